// Words of a STATUS column in three tones. Unknown words have none.

export type Tone = 'pass' | 'warn' | 'rej'

const good = new Set(['Ready', 'Running', 'Succeeded', 'Completed', 'Complete', 'Bound', 'Available', 'Active', 'Established', 'True', 'Healthy'])
const waiting = new Set(['Pending', 'SchedulingGated', 'ContainerCreating', 'PodInitializing', 'Terminating', 'Released', 'Suspended', 'Unknown', 'NominatedNode', 'SchedulingDisabled', 'NotTriggerScaleUp'])
const bad = new Set(['Failed', 'Error', 'NotReady', 'CrashLoopBackOff', 'Evicted', 'OOMKilled', 'Lost', 'ImagePullBackOff', 'ErrImagePull', 'NodeLost'])

/** The tone of a STATUS cell; of several words ("Ready,SchedulingDisabled") the worst. */
export function toneOf(status: string): Tone | undefined {
  const words = status.split(',')
  if (words.some((w) => bad.has(w) || /BackOff|^Err/.test(w))) return 'rej'
  if (words.some((w) => waiting.has(w) || w.startsWith('Init:'))) return 'warn'
  return words.some((w) => good.has(w)) ? 'pass' : undefined
}
