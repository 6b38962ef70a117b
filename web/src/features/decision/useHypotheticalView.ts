// The hypothesis of the decision page, and whether the page shows what would happen or the
// recorded attempt.

import { computed } from 'vue'
import { useTrial } from '@/features/fit/useTrial'
import type { Hypothesis } from '@/features/whatif/model/hypothesis'
import { useHypothesis } from '@/features/whatif/useHypothesis'
import { t } from '@/i18n'
import { useQuery } from '@/ui/query'
import type { Attempts } from './useAttempts'

export function useHypotheticalView({
  namespace,
  name,
  pod,
  current,
}: Pick<Attempts, 'namespace' | 'name' | 'pod' | 'current'>) {
  const inURL = useHypothesis()
  const { hypothesis, supposed } = inURL
  /** By default a hypothesis is shown as soon as there is one; without one, the attempt. */
  const viewQuery = useQuery('view', '', ['', 'asked', 'recorded'])
  /** A pod can be asked about as long as it exists. */
  const subject = computed(() => (pod.value ? { namespace: namespace.value, name: name.value } : undefined))
  const asking = computed(() => !!subject.value && (viewQuery.value ? viewQuery.value === 'asked' : supposed.value))
  const trial = useTrial(subject, hypothesis, asking)
  return {
    ...inURL,
    trial,
    asking,
    /** The answer to show; undefined while there is none. */
    asked: computed(() => (asking.value ? trial.tried.value : undefined)),
    view: computed({
      get: () => (asking.value ? 'asked' : 'recorded'),
      set: (value) => (viewQuery.value = (value === 'asked') === supposed.value ? '' : value),
    }),
    views: computed(() => [
      {
        value: 'recorded',
        label: supposed.value && current.value ? t('decision.attempt', { n: current.value.attempt }) : t('fit.asItRan'),
      },
      { value: 'asked', label: supposed.value ? t('whatif.hypothetical') : t('fit.everyPlugin') },
    ]),
    suppose(next: Hypothesis) {
      if (viewQuery.value === 'recorded') viewQuery.value = ''
      inURL.suppose(next)
    },
  }
}
