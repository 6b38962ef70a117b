// What a learner has done: kept by this browser, and written to a file that another browser can read.

/** The misconceptions that grading knows by name. A teacher's lessons may name others. */
export const misconceptions = [
  'usage-counts',
  'prefer-forbids',
  'toleration-attracts',
  'preferred-is-required',
  'priority-picks-node',
  'limits-count',
  'pods-move-later',
] as const
export type Misconception = (typeof misconceptions)[number]
export const isKnown = (id: string): id is Misconception => misconceptions.some((known) => known === id)

export interface LessonProgress {
  /** Where the learner is, from 0. */
  at: number
  /** The number of steps when the lesson was last open. */
  steps: number
  /** The sandbox that `at` is of, by its time of creation. */
  sandbox?: string
  /** The checks that passed, by ID. */
  passed: string[]
  /** The steps that were done in the sandbox, by ID. */
  did?: string[]
  /** When the lesson was finished; RFC 3339. */
  done?: string
}

export interface MisconceptionProgress {
  /** How often it was named. */
  count: number
  /** Where it was named and has not been answered right since; cleared when empty. */
  open: string[]
}

export interface Progress {
  lessons: Record<string, LessonProgress>
  misconceptions: Record<string, MisconceptionProgress>
  exercises: { level: number; asked: number; right: number }
}

export const noProgress = (): Progress => ({
  lessons: {},
  misconceptions: {},
  exercises: { level: 1, asked: 0, right: 0 },
})

/** How a misconception stands with the learner. */
export type Standing = { kind: 'notMet' } | { kind: 'counted'; count: number } | { kind: 'cleared' }

export function standingOf({ misconceptions: all }: Progress, id: string): Standing {
  const one = all[id]
  if (!one) return { kind: 'notMet' }
  return one.open.length ? { kind: 'counted', count: one.count } : { kind: 'cleared' }
}

/** The progress after an answer. `where` names the check, or the exercise's plugin, that was answered. */
export function answered(
  progress: Progress,
  where: string,
  { passed, misconceptions: named }: { passed: boolean; misconceptions: readonly string[] }
): Progress {
  const all = { ...progress.misconceptions }
  for (const id of named) {
    const { count = 0, open = [] } = all[id] ?? {}
    all[id] = { count: count + 1, open: open.includes(where) ? open : [...open, where] }
  }
  if (passed)
    for (const [id, one] of Object.entries(all))
      if (!named.includes(id)) all[id] = { ...one, open: one.open.filter((place) => place !== where) }
  return { ...progress, misconceptions: all }
}

/** The progress after a lesson changed. */
export function withLesson(progress: Progress, id: string, change: Partial<LessonProgress>): Progress {
  const before = progress.lessons[id] ?? { at: 0, steps: 0, passed: [] }
  return { ...progress, lessons: { ...progress.lessons, [id]: { ...before, ...change } } }
}

export const isUnderWay = (one: LessonProgress | undefined): one is LessonProgress =>
  !!one && !one.done && one.steps > 0

// ── the file ────────────────────────────────────────────────────────────

const kind = 'LearningProgress'

export function progressFile(progress: Progress): string {
  return `${JSON.stringify({ kind, version: 1, ...progress }, undefined, 2)}\n`
}

/** The progress in a file; undefined if it is none. */
export function readProgressFile(text: string): Progress | undefined {
  const value = parsed(text)
  return isRecord(value) && value.kind === kind ? progressIn(value) : undefined
}

/** The progress that this browser kept. What cannot be read is left out. */
export function readProgress(text: string): Progress {
  return progressIn(parsed(text))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Anything may stand in a file: only numbers, texts and lists of texts in their places are taken. */
function progressIn(value: unknown): Progress {
  const progress = noProgress()
  if (!isRecord(value)) return progress
  for (const [id, one] of entries(value.lessons)) {
    progress.lessons[id] = {
      at: count(one.at),
      steps: count(one.steps),
      passed: texts(one.passed),
      ...(typeof one.sandbox === 'string' ? { sandbox: one.sandbox, did: texts(one.did) } : {}),
      ...(typeof one.done === 'string' && !Number.isNaN(Date.parse(one.done)) ? { done: one.done } : {}),
    }
  }
  for (const [id, one] of entries(value.misconceptions))
    progress.misconceptions[id] = { count: count(one.count), open: texts(one.open) }
  if (isRecord(value.exercises))
    progress.exercises = {
      level: Math.min(3, Math.max(1, count(value.exercises.level))),
      asked: count(value.exercises.asked),
      right: count(value.exercises.right),
    }
  return progress
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const entries = (value: unknown) =>
  isRecord(value)
    ? Object.entries(value)
        .filter((entry): entry is [string, Record<string, unknown>] => isRecord(entry[1]))
        .slice(0, 500)
    : []
const count = (value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) ? Math.max(0, Math.floor(value)) : 0
const texts = (value: unknown) =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string').slice(0, 500) : []
