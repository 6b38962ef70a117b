// Scenarios that are played on this page's cluster as it is, in real time.

import { ApiError } from './http'
import type { PlayLine } from './schema'
import { upload } from './upload'

/** Plays a scenario; `begun` hears of each step. Throws ApiError if a step fails. What was played before stays. */
export async function playScenario(
  scenario: object,
  begun: (step: string) => void,
  signal?: AbortSignal
): Promise<void> {
  let rest = ''
  let failure: PlayLine['error']
  const take = (part: string) => {
    const lines = (rest + part).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines.filter(Boolean)) {
      const { progress, error } = JSON.parse(line) as PlayLine
      if (progress) begun(progress.step)
      failure ??= error
    }
  }
  await upload({
    path: '/api/v1/play',
    body: new Blob([JSON.stringify(scenario)]),
    type: 'application/yaml', // JSON is YAML; a scenario in JSON would be a request with files
    accept: 'application/x-ndjson',
    received: take,
    ...(signal ? { signal } : {}),
  })
  take('\n')
  if (failure) throw new ApiError(failure.message, 0)
}
