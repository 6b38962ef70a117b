// The columns of the Score table. A new one is one more entry of the list below.

import { computed, type ComputedRef } from 'vue'
import { t } from '@/i18n'
import { useAboutPlugin } from './aboutPlugin'
import { cellAt, toBest, type ScoreTable, type ScoreValues } from './model/scores'

/** A column of the Score table: its width, its heading and its cells. */
export interface ScoreTableColumn {
  id: string
  class?: string
  /** The track of the grid, and how many px it takes at least. */
  width: string
  least: number
  label: string
  /** Stands for the label, which only screen readers get then. */
  sign?: string
  /** Emphasized, after the label. */
  strong?: string
  hint?: string
  /** What a click on the heading sorts by. */
  sort?: string
  /** Of a plugin: its cells can be selected. */
  plugin?: { name: string; at: number; colour: string }
  cell: (row: number) => ScoreTableCell
}

export interface ScoreTableCell {
  class?: string
  /** A link to the node. */
  node?: string
  strong?: string | number
  text?: string | number
  note?: string
  bar?: { width: string; background?: string }
}

const colour = (p: number) => `var(--c${(p % 9) + 1})`

/** The parts of a total as one background; separate elements would add thousands. */
function barOf(table: ScoreTable, row: number) {
  const { best, columns } = table
  const parts = columns.map((_, p) => Math.max(0, cellAt(table, row, p).weighted))
  const sum = parts.reduce((all, part) => all + part, 0)
  if (best <= 0 || !sum) return { width: '0' }
  const stops: string[] = []
  let at = 0
  parts.forEach((part, p) => {
    if (!part) return
    const end = at + (part / sum) * 100
    const gap = end < 99.99 ? `calc(${end.toFixed(2)}% - 1px)` : '100%'
    stops.push(`${colour(p)} ${at.toFixed(2)}% ${gap}`, `transparent ${gap} ${end.toFixed(2)}%`)
    at = end
  })
  return {
    width: `${Math.max(0, ((table.totals[row] ?? 0) / best) * 100).toFixed(2)}%`,
    background: `linear-gradient(90deg, ${stops.join(', ')})`,
  }
}

export function useScoreColumns(
  props: { table: ScoreTable; would?: boolean },
  values: () => ScoreValues
): ComputedRef<ScoreTableColumn[]> {
  const about = useAboutPlugin()

  return computed(() => {
    const { table } = props
    const nameWidth = Math.min(26, Math.max(8, ...table.nodes.slice(0, 200).map((name) => name.length))) * 7 + 16
    // Translated once for tens of thousands of cells.
    const words = {
      tie: t('decision.tie'),
      chosen: props.would ? t('fit.wouldLandShort') : t('decision.chosen'),
      noScore: t('decision.noScore'),
    }
    const all = values()
    const ofPlugin = (column: ScoreTable['columns'][number], p: number): ScoreTableColumn => ({
      id: column.name,
      width: 'minmax(66px, 1fr)',
      least: 66,
      label: column.name,
      strong: `×${column.weight}`,
      hint: [
        column.name,
        column.extender ? t('decision.extenderScoreHint') : about('score', column.name),
        t('decision.weightHint', { weight: column.weight }),
        t('decision.sortBy', { name: column.name }),
      ]
        .filter(Boolean)
        .join('\n'),
      sort: column.name,
      plugin: { name: column.name, at: p, colour: colour(p) },
      cell: (row) => {
        const cell = cellAt(table, row, p)
        const span = table.spans[p]
        const strong = all === 'all' ? cell.weighted : (cell[all] ?? '–')
        const best = span && !span.uniform && cell.weighted === span.best
        const parts =
          cell.raw === undefined ? words.noScore : column.extender ? cell.raw : `${cell.raw} → ${cell.normalized}`
        return { class: !strong ? 'v z' : best ? 'v hi' : 'v', strong, text: all === 'all' ? parts : '' }
      },
    })
    return [
      {
        id: 'rank',
        class: 'rk',
        width: '34px',
        least: 34,
        label: t('decision.rank'),
        sign: '#',
        hint: t('decision.rankHint'),
        cell: (row) => ({ text: table.ranks[row], ...(table.tied[row] ? { note: words.tie } : {}) }),
      },
      {
        id: 'node',
        class: 'nm',
        width: `minmax(72px, ${nameWidth}px)`,
        least: nameWidth,
        label: t('decision.node'),
        sort: 'node',
        cell: (row) => ({ class: 'ell', node: table.nodes[row] ?? '' }),
      },
      ...table.columns.map(ofPlugin),
      {
        id: 'total',
        width: '58px',
        least: 58,
        label: '',
        strong: t('decision.totalHead'),
        hint: t('decision.totalHint'),
        sort: 'total',
        cell: (row) => ({ class: 'tot', text: table.totals[row] ?? 0 }),
      },
      {
        id: 'behind',
        width: '72px',
        least: 72,
        label: t('decision.toBest'),
        hint: t('decision.toBestHint'),
        cell: (row) => {
          const difference = toBest(table, row)
          return { class: 'dl', text: row === table.chosen ? words.chosen : difference === 0 ? '0' : `−${-difference}` }
        },
      },
      {
        id: 'parts',
        class: 'bars',
        width: 'minmax(90px, 1.6fr)',
        least: 90,
        label: t('decision.parts'),
        hint: t('decision.partsHint'),
        cell: (row) => ({ bar: barOf(table, row) }),
      },
    ]
  })
}
