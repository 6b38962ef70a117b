// Tones for the words of STATUS columns. Unknown words have none.

export type Tone = 'pass' | 'warn' | 'rej'

const good = new Set([
  'Ready',
  'Running',
  'Succeeded',
  'Completed',
  'Complete',
  'Bound',
  'Available',
  'Active',
  'Established',
  'True',
  'Healthy',
])
const waiting = new Set([
  'Pending',
  'SchedulingGated',
  'ContainerCreating',
  'PodInitializing',
  'Terminating',
  'Released',
  'Suspended',
  'Unknown',
  'NominatedNode',
  'SchedulingDisabled',
  'NotTriggerScaleUp',
])
const bad = new Set([
  'Failed',
  'Error',
  'NotReady',
  'CrashLoopBackOff',
  'Evicted',
  'OOMKilled',
  'Lost',
  'ImagePullBackOff',
  'ErrImagePull',
  'NodeLost',
])

/** The tone of a STATUS cell; with several words ("Ready,SchedulingDisabled") the worst one. */
function toneOf(status: string): Tone | undefined {
  const words = status.split(',')
  if (words.some((w) => bad.has(w) || /BackOff|^Err/.test(w))) return 'rej'
  if (words.some((w) => waiting.has(w) || w.startsWith('Init:'))) return 'warn'
  return words.some((w) => good.has(w)) ? 'pass' : undefined
}

/** The glyph of a status and the class of its colour. */
export interface StatusLook {
  icon: string
  tone: Tone
}

const icons = { pass: 'check', warn: 'clock', rej: 'x' } as const

/** The glyph beside a status. `placed`: the pod is pending but already has a node. */
export function lookOfStatus(status: string, placed = false): StatusLook | undefined {
  if (status === 'Pending' && placed) return { icon: 'pin', tone: 'pass' }
  const tone = toneOf(status)
  if (!tone) return undefined
  return { icon: status.includes('SchedulingDisabled') || status === 'SchedulingGated' ? 'gate' : icons[tone], tone }
}

/** Whether a cell is empty or has one of kubectl's words for a missing value. */
export function isEmptyCell(cell: string): boolean {
  return cell === '' || cell === '<none>' || cell === '<unset>' || cell === '<unknown>'
}
