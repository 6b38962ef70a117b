// Transcripts of presentations, for tests.

import type { Content } from './steps'

/** A step as a line: its kind and the facts that a reader of the slide would check. */
export function line(content: Content): string {
  const c = content
  switch (c.kind) {
    case 'passes':
      return `passes ${c.plugins.join(' ')}: ${c.left} left`
    case 'rejects':
      return `rejects ${c.plugin || '(framework)'} ${c.nodes}: ${c.left} left${c.reasons.map((r) => `; ${r.reason} ${r.nodes}`).join('')}`
    case 'notRun':
      return `notRun ${c.plugins.join(' ')}`
    case 'failed':
      return `failed ${c.plugin} ${c.nodes}${c.ignored ? ' ignored' : ''}`
    case 'notEvaluated':
      return `notEvaluated ${c.nodes} ${c.why}`
    case 'score':
      return `score ${c.plugin} × ${c.weight}${c.same === undefined ? '' : ` same ${c.same}`}`
    case 'feasible':
      return `feasible ${c.nodes}`
    case 'unscored':
      return `unscored ${c.nodes} ${c.why}`
    case 'chosen':
      return `chosen ${c.node} ${c.total ?? '-'} +${c.margin} ${c.next}${c.tied.length ? ` tied ${c.tied.join(' ')}` : ''}`
    case 'candidates':
      return `candidates ${c.candidates}`
    case 'rule':
      return (
        `rule ${c.rule}${c.equal.length ? ` after ${c.equal.join(' ')}` : ''}` +
        `: ${c.out} out, ${c.left} left${c.decides ? ', decides' : ''}`
      )
    case 'firstFound':
      return `firstFound ${c.node} of ${c.left}`
    case 'victims':
      return `victims on ${c.node}: ${c.victims.map((v) => v.pod.name).join(' ')}, ${c.reprieved} stay`
    case 'binding':
      return `binding ${c.stages.map((s) => `${s.name} ${s.status}`).join(', ')}`
    case 'preFilter':
      return (
        `preFilter${c.refused.map((r) => ` refused by ${r.plugin}`).join('')}` +
        `${c.narrowed.map((n) => ` ${n.plugin} ${n.nodes}`).join('')}`
      )
    default:
      return c.kind
  }
}
