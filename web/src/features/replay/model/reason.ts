// The words for the reason of a comparison. The server decides what is true; this module only chooses words.
// scheduler/explain/testdata/comparisons.json tests them and the server’s for the same English.

import type { ReplayReason } from '@/api/replay'

type Translate = (key: string, values: Record<string, unknown>) => string

export function reasonText(reason: ReplayReason, t: Translate): string {
  const say = (key: string, values: object = {}) => t(`replay.why.${key}`, { ...reason, ...values }).trim()
  const join = (all: readonly string[]) => all.join(t('common.separator', {}))
  const cycle = 'selected' in reason && reason.selected ? say('chosen') : say('none')
  switch (reason.kind) {
    case 'notRecorded':
      return say(reason.selected ? 'notRecorded' : 'neither')
    case 'leftOut':
      return say(reason.cause)
    case 'nodeRejected': {
      const reasons = join(reason.reasons)
      return say(reasons ? 'nodeRejectedFor' : 'nodeRejected', { cycle, reasons })
    }
    case 'otherTotal': {
      const totals = say('otherTotal', { cycle })
      return reason.plugin ? totals + t('common.sentenceGap', {}) + say('mostDifferent') : totals
    }
    case 'nodeNotEvaluated':
      return notEvaluatedText(reason, say('notEvaluated', { cycle }), say, join)
    default:
      return say(reason.kind, { cycle })
  }
}

function notEvaluatedText(
  reason: Extract<ReplayReason, { kind: 'nodeNotEvaluated' }>,
  left: string,
  say: (key: string, values: object) => string,
  join: (all: readonly string[]) => string
): string {
  if (reason.why !== 'enoughFeasibleNodes')
    return say(`left.${reason.why || 'unknown'}`, { left, plugins: join(reason.plugins) })
  const search = say(reason.wanted === 1 ? 'left.firstFound' : 'left.enoughFound', { left })
  return say(reason.outside ? 'left.orOutside' : 'left.unknown', { left: search })
}
