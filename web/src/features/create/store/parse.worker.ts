// Parses a large file outside the page's thread: ten megabytes of YAML take seconds.

import { messageOf } from '@/api/message'
import { parseInSteps, type Entry, type Problem } from '@/features/yaml/model/documents'

export type ParsedEntry = Omit<Entry, 'lineOf'>

export type WorkerMessage =
  | { type: 'progress'; done: number; total: number; entries: ParsedEntry[] }
  | { type: 'done'; problems: Problem[] }
  | { type: 'failed'; message: string }

const every = 120

self.onmessage = async ({ data: file }: MessageEvent<File>) => {
  const tell = (message: WorkerMessage) => self.postMessage(message)
  try {
    const text = await file.text()
    if (text.includes('\u0000')) throw new Error('not a text')
    const steps = parseInSteps(text)
    let told = performance.now()
    let step = steps.next()
    while (!step.done) {
      if (performance.now() - told > every) {
        told = performance.now()
        tell({ type: 'progress', done: step.value, total: text.length, entries: [] })
      }
      step = steps.next()
    }
    const { entries, problems } = step.value
    // Sent in parts, so that the page stays responsive.
    for (let i = 0; i < entries.length; i += 1000) {
      const part = entries.slice(i, i + 1000).map(({ index, line, object, apiVersion, kind, name, namespace }) => ({
        index,
        line,
        object,
        apiVersion,
        kind,
        name,
        namespace,
      }))
      tell({ type: 'progress', done: text.length, total: text.length, entries: part })
    }
    tell({ type: 'done', problems })
  } catch (error) {
    tell({ type: 'failed', message: messageOf(error) })
  }
}
