// Answers as text.

import type { AnsweredCheck } from '@/api/learn'

/**
 * What the learner answered, as the options say it; '' where there is nothing to say: for
 * predictions and changes of the cluster.
 */
export function answerText({ answer, options }: Pick<AnsweredCheck, 'answer' | 'options'>, separator: string): string {
  const labelOf = (value: string) => options?.find((option) => option.value === value)?.label ?? value
  if (typeof answer === 'string') return labelOf(answer)
  if (typeof answer === 'number') return String(answer)
  return Array.isArray(answer)
    ? answer
        .filter((one): one is string => typeof one === 'string')
        .map(labelOf)
        .join(separator)
    : ''
}
