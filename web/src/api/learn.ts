// Lessons, challenges and exercises. Checks and answers are graded by the simulator that is asked:
// in a lesson, by the
// lesson's own branch.

import { based } from './base'
import { bodyOf, client } from './client'
import type { components } from './schema'
import type { Node, Pod } from './types'

type Schemas = components['schemas']
/** A lesson or a challenge in short. */
export type LessonSummary = Schemas['LessonSummary']
export type Lesson = Schemas['Lesson']
export type LessonStep = Schemas['LessonStep']
export type Check = Schemas['LessonCheck']
/** What the learner predicts. No pick means that no node fits. */
export type Prediction = Schemas['Prediction']
/** How the scheduler and the learner judged one node. */
export type NodeGrade = Schemas['NodeGrade']
/** What became of an answer. */
export type CheckResult = Schemas['LessonGrade']

/** What became of a lesson. */
export type LessonResult = Schemas['LessonResult']
export type AnsweredCheck = Schemas['AnsweredCheck']

export type Answer = string | number | string[] | Prediction

export interface ExerciseKey {
  /** '' for any. */
  plugin: string
  level: number
  /** 0 lets the simulator choose. */
  seed: number
}
/** The objects are read only where their kind says how. */
export type Exercise = Omit<Schemas['Exercise'], 'pod' | 'nodes' | 'pods'> & { pod: Pod; nodes: Node[]; pods: Pod[] }

export async function listLessons(lang: 'en' | 'ja', signal?: AbortSignal): Promise<LessonSummary[]> {
  return (await bodyOf(client.GET('/api/v1/lessons', { params: { query: { lang } }, signal }))).items
}

export function getLesson(id: string, lang: 'en' | 'ja', signal?: AbortSignal): Promise<Lesson> {
  return bodyOf(client.GET('/api/v1/lessons/{id}', { params: { path: { id }, query: { lang } }, signal }))
}

/** Does what the step's button says, in this simulator's cluster. */
export async function doStep(id: string, step: string): Promise<void> {
  await client.POST('/api/v1/lessons/{id}/steps/{step}', { params: { path: { id, step } } })
}

/** Where the result of a lesson is to be had as a file that opens without a server. */
export const lessonReportHref = (id: string, lang: 'en' | 'ja'): string =>
  based(`/api/v1/lessons/${encodeURIComponent(id)}/result?format=html&lang=${lang}`)

/** Where the result of an exercise is to be had as such a file. */
export function exerciseReportHref({ plugin, level, seed }: ExerciseKey, { crossedOut, picked }: Prediction): string {
  const query = new URLSearchParams([
    ['format', 'html'],
    ['plugin', plugin],
    ['level', String(level)],
    ['seed', String(seed)],
    ...crossedOut.map((node) => ['crossedOut', node]),
    ['picked', picked],
  ])
  return based(`/api/v1/exercises/result?${query.toString()}`)
}

/** Grades an answer by this simulator's cluster; a state check has none. */
export function checkAnswer(id: string, check: string, lang: 'en' | 'ja', answer?: Answer): Promise<CheckResult> {
  return bodyOf(
    client.POST('/api/v1/lessons/{id}/checks/{check}', {
      params: { path: { id, check }, query: { lang } },
      body: answer === undefined ? {} : { answer },
    })
  )
}

/** The plugins that exercises can be about. */
export async function listExercisePlugins(signal?: AbortSignal): Promise<string[]> {
  return (await bodyOf(client.GET('/api/v1/exercises', { signal }))).plugins
}

export async function newExercise(key: ExerciseKey, signal?: AbortSignal): Promise<Exercise> {
  return (await bodyOf(client.POST('/api/v1/exercises', { body: key, signal }))) as unknown as Exercise
}

export function gradeExercise(key: ExerciseKey, prediction: Prediction): Promise<CheckResult> {
  return bodyOf(client.POST('/api/v1/exercises/grade', { body: { ...key, ...prediction } }))
}
