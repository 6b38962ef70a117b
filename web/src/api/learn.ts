// Lessons, challenges and exercises. Checks and answers are graded by the simulator that is asked: in a lesson, by the
// lesson's own branch.

import { ignored, request } from './http'
import type { Cycle, Node, Pod } from './types'

/** A lesson or a challenge in short. */
export interface LessonSummary {
  id: string
  kind: 'lesson' | 'challenge'
  title: string
  goal: string
  /** 1 to 4; challenges have none. */
  line?: number
  order: number
  minutes: number
  extensionPoint: string
  /** How many there are. */
  steps: number
  checks: number
  /** Challenges: the fewest changes that are known to solve it. */
  best?: number
  /** It is a teacher's, not one that the simulator brings along. */
  own?: boolean
}

export interface Lesson extends Omit<LessonSummary, 'steps'> {
  /** Markdown. */
  intro: string
  steps: LessonStep[]
}

export interface LessonStep {
  id: string
  title: string
  /** The page that it is about, as a path of the application. */
  page: string
  /** The data-testid of what it points at. */
  highlight?: string
  /** What one button does to the cluster. */
  do?: { label?: string; text: string }
  /** In the order of the file; each has one of the two. */
  parts: { text?: string; check?: Check }[]
}

export interface Check {
  id: string
  kind: 'state' | 'question' | 'predict'
  prompt: string
  hint?: string
  options?: { value: string; label: string }[]
  number?: boolean
  multiple?: boolean
  /** The pod to predict: one of the cluster, or a manifest that need not exist. */
  pod?: { namespace: string; name: string }
  manifest?: string
}

/** What the learner predicts. No pick means that no node fits. */
export interface Prediction {
  crossedOut: string[]
  picked: string
}

export type Answer = string | number | string[] | Prediction

/** How the scheduler and the learner judged one node. */
export interface NodeGrade {
  node: string
  verdict: 'rejected' | 'feasible' | 'chosen'
  crossedOut: boolean
  picked: boolean
  right: boolean
}

/** A prediction beside the cycle that the scheduler ran. */
export interface Grade {
  passed: boolean
  verdict: Cycle
  grades: NodeGrade[]
  misconceptions: string[]
}

export interface CheckResult {
  passed: boolean
  feedback: string
  misconceptions: string[]
  /** State checks: what was expected, and what the cluster has. */
  findings?: { expected: string; value?: string }[]
  verdict?: Cycle
  grades?: NodeGrade[]
}

export type Level = 1 | 2 | 3

export interface ExerciseKey {
  /** '' for any. */
  plugin: string
  level: Level
  /** 0 lets the simulator choose. */
  seed: number
}

export interface Exercise extends ExerciseKey {
  pod: Pod
  nodes: Node[]
  /** The pods that run on the nodes. */
  pods: Pod[]
}

const as = <T>(body: unknown) => body as T
const lessonPath = (id: string) => `/api/v1/lessons/${encodeURIComponent(id)}`

export function listLessons(lang: string, signal?: AbortSignal): Promise<LessonSummary[]> {
  return request(`/api/v1/lessons?lang=${lang}`, (body) => as<{ items: LessonSummary[] }>(body).items, { signal })
}

export function getLesson(id: string, lang: string, signal?: AbortSignal): Promise<Lesson> {
  return request(`${lessonPath(id)}?lang=${lang}`, as<Lesson>, { signal })
}

/** Does what the step's button says, in this simulator's cluster. */
export function doStep(id: string, step: string): Promise<void> {
  return request(`${lessonPath(id)}/steps/${encodeURIComponent(step)}`, ignored, { method: 'POST' })
}

/** Grades an answer by this simulator's cluster; a state check has none. */
export function checkAnswer(id: string, check: string, lang: string, answer?: Answer): Promise<CheckResult> {
  return request(`${lessonPath(id)}/checks/${encodeURIComponent(check)}?lang=${lang}`, as<CheckResult>, { method: 'POST', body: answer === undefined ? {} : { answer } })
}

/** The plugins that exercises can be about. */
export function listExercisePlugins(signal?: AbortSignal): Promise<string[]> {
  return request('/api/v1/exercises', (body) => as<{ plugins: string[] }>(body).plugins, { signal })
}

export function newExercise(key: ExerciseKey, signal?: AbortSignal): Promise<Exercise> {
  return request('/api/v1/exercises', as<Exercise>, { method: 'POST', body: key, signal })
}

export function gradeExercise(key: ExerciseKey, prediction: Prediction): Promise<Grade> {
  return request('/api/v1/exercises/grade', as<Grade>, { method: 'POST', body: { ...key, ...prediction } })
}
