// The title and the sentences of a step.

import { plainName } from '@/features/decision/model/cycle'
import { t } from '@/i18n'
import { names } from '@/i18n/names'
import { formatCount } from '@/i18n/numbers'
import { formatDuration } from '@/kubernetes/time'
import { leadersAt } from './model/board'
import type { Content, Presentation, Reason, Step } from './model/steps'

export interface StepWords {
  title: string
  lines: string[]
}

type Of<Kind extends Content['kind']> = Extract<Content, { kind: Kind }>

/** A message with a count: the number with its separators, and the plural form. */
const counted = (key: string, n: number, values: Record<string, unknown> = {}) => t(key, { ...values, n }, n)
const plugins = (all: readonly string[]) => names(all.map(plainName), 12)
const kept = (lines: (string | false | undefined)[]) => lines.filter((line): line is string => !!line)
const reasons = (all: readonly Reason[]) => {
  const [only] = all
  if (all.length === 1 && only) return kept([only.reason && t('present.rejects.one', { reason: only.reason })])
  return all
    .slice(0, 4)
    .map(({ reason, nodes }) => counted('present.rejects.reason', nodes, { reason: reason || t('explain.noReason') }))
}

function podWords({ attempt, nodes, waited }: Of<'pod'>, pod: string): StepWords {
  return {
    title: t('present.pod.title', { pod }),
    lines: kept([
      nodes ? counted('present.pod.nodes', nodes) : t('present.pod.noNodes'),
      attempt > 1 && t('present.pod.attempt', { n: attempt }),
      !!waited && waited >= 0.1 && t('present.pod.waited', { time: formatDuration(waited) }),
    ]),
  }
}
function groupWords({ group }: Of<'group'>, pod: string): StepWords {
  return {
    title: t('present.group.title', { pod, group: group.name }),
    lines: kept([
      counted('present.group.members', group.memberCount),
      !!group.minCount && t('present.group.min', { n: group.minCount }),
      !!group.alreadyScheduled && counted('present.group.already', group.alreadyScheduled),
      !!group.topologyKey && t('present.group.topology', { key: group.topologyKey }),
    ]),
  }
}
function placementWords({ group }: Of<'placements'>): StepWords {
  const placements = group.placements ?? []
  const n = group.placementCount ?? placements.length
  return {
    title: counted('present.placements.title', n),
    lines: [
      t('present.placements.text', {
        key: group.topologyKey ?? '',
        n,
        fitting: placements.filter((p) => p.status === 'Success').length,
      }),
    ],
  }
}
function preFilterWords({ plugins: asked, skipped, narrowed, refused }: Of<'preFilter'>): StepWords {
  if (refused.length) {
    return {
      title: t('present.preFilter.refusedTitle', { plugins: names(refused.map((r) => r.plugin)) }),
      lines: refused.map((r) =>
        t('present.preFilter.refused', { plugin: r.plugin, reasons: r.reasons?.join(', ') || t('explain.noReason') })
      ),
    }
  }
  return {
    title: t('present.preFilter.title'),
    lines: kept([
      !!asked && counted('present.preFilter.asked', asked),
      !!skipped.length && t('present.preFilter.skipped', { plugins: plugins(skipped) }),
      ...narrowed.map(({ plugin, nodes }) => counted('present.preFilter.narrowed', nodes, { plugin })),
    ]),
  }
}
function passWords({ plugins: passing, left }: Of<'passes'>): StepWords {
  return {
    title: t('present.passes.title', { n: passing.length, plugins: plugins(passing) }, passing.length),
    lines: kept([
      passing.length > 1 && t('present.sentence', { text: plugins(passing) }),
      counted('present.rejects.left', left),
    ]),
  }
}
function rejectWords(content: Of<'rejects'>): StepWords {
  const { plugin, nodes, left } = content
  return {
    title: plugin
      ? counted('present.rejects.title', nodes, { plugin: plainName(plugin) })
      : counted('present.rejects.framework', nodes),
    lines: [...reasons(content.reasons), counted('present.rejects.left', left)],
  }
}
function unscoredWords({ nodes, why }: Of<'unscored'>): StepWords {
  const line = {
    one: 'decision.scoreOne',
    hint: 'decision.scoreHint1',
    nominated: 'present.unscored.nominated',
    missing: 'decision.scoreMissing',
  }[why]
  return { title: counted('present.unscored.title', nodes), lines: [t(line)] }
}
function scoreWords(content: Of<'score'>, shown: Presentation, step: Step): StepWords {
  const { plugin, weight, extender, same } = content
  const lead = leadersAt(shown, step)
  const unchanged = same === undefined ? '' : same ? counted('present.score.same', same) : t('present.score.none')
  return {
    title: t('present.score.title', { plugin: plainName(plugin), weight }),
    lines: kept([
      unchanged,
      extender && t('decision.footExtender'),
      lead.nodes.length > 0 && t('present.score.lead', { nodes: names(lead.nodes), points: lead.points }),
    ]),
  }
}
function chosenWords({ node, total, tied, bySeed, next, margin }: Of<'chosen'>): StepWords {
  const points = total === undefined ? '' : formatCount(total)
  const line = !points
    ? t('present.chosen.unscored')
    : tied.length
      ? t(bySeed ? 'present.chosen.tiedBySeed' : 'present.chosen.tied', { total: points, nodes: names(tied) })
      : next
        ? t('present.chosen.margin', { total: points, margin, next })
        : t('present.chosen.alone')
  return { title: t('present.chosen.title', { node }), lines: [line] }
}
function candidateWords({ candidates, unhelpful }: Of<'candidates'>): StepWords {
  const said = unhelpful.slice(0, 4).map(({ why, plugin, reason, nodes }) =>
    counted('present.candidates.unhelpfulOn', nodes.length, {
      reason: [t(`preemption.noVictims.${why}`), plugin, reason].filter(Boolean).join(' '),
    })
  )
  return {
    title: candidates ? counted('present.candidates.title', candidates) : t('present.candidates.none'),
    lines: kept([
      candidates > 0 && t('present.candidates.text'),
      said.length > 0 && t('present.candidates.unhelpful', { reasons: said.join(t('common.separator')) }),
    ]),
  }
}
function ruleWords({ rule, equal, out, left, decides }: Of<'rule'>, { preemption }: Presentation): StepWords {
  return {
    title: t('present.rule.title', {
      rule: t(`preemption.ruleName.${rule}`),
      wins: t(`preemption.ruleWins.${rule}`),
    }),
    lines: kept([
      t('present.sentence', { text: t(`preemption.ruleHint.${rule}`) }),
      equal.length > 0 && t('present.rule.equal', { rules: names(equal.map((r) => t(`preemption.ruleName.${r}`))) }),
      out > 0 && counted('present.rule.out', out, { out: formatCount(out), left: formatCount(left) }),
      decides && t('present.rule.decides', { node: preemption?.rows.find((row) => row.chosen)?.node ?? '' }),
    ]),
  }
}
function victimWords({ node, victims, more, reprieved, violations }: Of<'victims'>): StepWords {
  return {
    title: counted('present.victims.title', victims.length + more, { node }),
    lines: kept([
      victims.length > 0 &&
        t('present.victims.evicted', {
          pods: names(
            victims.map((v) => v.pod.name),
            8
          ),
        }),
      reprieved > 0 && counted('present.victims.stay', reprieved),
      violations > 0 && counted('present.victims.violations', violations),
    ]),
  }
}
function bindingWords({ stages }: Of<'binding'>): StepWords {
  const stopped = stages.find((s) => s.status !== 'Success' && s.status !== 'Wait')
  const waits = stages.at(-1)?.status === 'Wait' ? stages.at(-1) : undefined
  const title = stopped
    ? t('present.binding.stopped', { stage: stopped.name })
    : waits
      ? t('present.binding.waits', { stage: waits.name })
      : t('present.binding.title')
  return { title, lines: [] }
}

export function stepWords(shown: Presentation, step: Step): StepWords {
  const { cycle } = shown
  const c = step.content
  const pod = cycle.pod.name
  switch (c.kind) {
    case 'pod':
      return podWords(c, pod)
    case 'group':
      return groupWords(c, pod)
    case 'placements':
      return placementWords(c)
    case 'preFilter':
      return preFilterWords(c)
    case 'passes':
      return passWords(c)
    case 'rejects':
      return rejectWords(c)
    case 'notRun':
      return {
        title: t('present.notRun.title'),
        lines: [t('present.notRun.text', { plugins: plugins(c.plugins) }, c.plugins.length)],
      }
    case 'failed':
      return {
        title: c.ignored
          ? t('present.failed.ignored', { plugin: plainName(c.plugin) })
          : counted('present.failed.title', c.nodes, { plugin: plainName(c.plugin) }),
        lines: c.ignored ? [counted('present.rejects.left', c.nodes)] : [],
      }
    case 'notEvaluated':
      return {
        title: counted('present.notEvaluated.title', c.nodes),
        lines: [t(`notEvaluated.${c.why}`, { n: c.nodes, wanted: c.wanted ?? 0, plugins: names(c.plugins) })],
      }
    case 'feasible':
      return {
        title: counted('present.feasible.title', c.nodes),
        lines: kept([
          counted('present.feasible.text', c.columns),
          c.skipped.length > 0 && t('present.feasible.skipped', { plugins: plugins(c.skipped) }),
        ]),
      }
    case 'unscored':
      return unscoredWords(c)
    case 'score':
      return scoreWords(c, shown, step)
    case 'chosen':
      return chosenWords(c)
    case 'candidates':
      return candidateWords(c)
    case 'rule':
      return ruleWords(c, shown)
    case 'firstFound':
      return { title: t('present.rule.first'), lines: [t('preemption.firstFound', { node: c.node })] }
    case 'victims':
      return victimWords(c)
    case 'binding':
      return bindingWords(c)
    case 'end':
      return {
        title: t(
          cycle.outcome === 'unschedulable' && cycle.nominatedNode
            ? 'present.end.preempts'
            : `present.end.${cycle.outcome}`
        ),
        lines: [],
      }
  }
}
