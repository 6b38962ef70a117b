// Steps in words: what was done, to what, and by whom.

import { useI18n } from 'vue-i18n'
import type { Step, TimelineObject } from '@/api/timeline'
import { formatCount } from '@/i18n/numbers'
import { durationParts } from './model/axis'

/** The verbs that have words of their own. */
const verbs: ReadonlySet<string> = new Set([
  'create',
  'update',
  'patch',
  'apply',
  'delete',
  'scale',
  'cordon',
  'uncordon',
  'taint',
  'label',
  'evict',
  'drain',
  'restart',
  'notReady',
  'unreachable',
  'recover',
  'configure',
  'import',
  'reset',
  'replay',
  'undo',
  'activate',
  'install',
  'judge',
  'recreate',
])

export interface StepWords {
  /** "Scaled Deployment api". */
  title(step: Step): string
  /** The client, unless it is the web. */
  by(step: Step): string
  objectName(object: TimelineObject): string
  duration(ms: number): string
}

export function useStepWords(): StepWords {
  const { t } = useI18n()
  const objectName = ({ kind, name }: TimelineObject) => `${kind} ${name}`
  function title(step: Step): string {
    if (step.kind === 'configuration' && step.revision)
      return t(step.failed ? 'timeline.revisionFailed' : 'timeline.revisionApplied', { n: step.revision })
    if (step.verb === 'undo' && step.revision && !step.count)
      return t('timeline.undidConfiguration', { n: step.revision })
    const [first] = step.objects
    // The pods follow their node.
    const drained = step.verb === 'drain' ? step.objects.filter(({ kind }) => kind === 'Node') : []
    const name = drained.length
      ? drained.map(objectName).join(t('common.separator'))
      : first && step.count <= 1
        ? objectName(first)
        : t('timeline.objects', { n: formatCount(step.count) }, step.count)
    // The node is the subject of a failure.
    if (step.kind === 'failure')
      return verbs.has(step.verb)
        ? t(`timeline.failed.${step.verb === 'unreachable' ? 'unreachable' : 'notReady'}`, { name: first?.name ?? '' })
        : `${first?.name ?? ''} ${step.verb}`
    if (step.kind === 'import' && step.deleted)
      return t('timeline.importedAfter', { name, n: formatCount(step.deleted) })
    if (step.kind === 'reset' || step.kind === 'import') return t(`timeline.verb.${step.kind}`, { name })
    return verbs.has(step.verb) ? t(`timeline.verb.${step.verb}`, { name }) : `${step.verb} ${name}`
  }
  return {
    title,
    by: ({ by }) => (by && by !== 'web' ? by : ''),
    objectName,
    duration: (ms) =>
      durationParts(ms)
        .map(({ unit, n }) => t(`timeline.unit.${unit}`, { n }))
        .join(' '),
  }
}
