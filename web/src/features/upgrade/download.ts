// The report as a file: Markdown, plain text, or the answer as it is.

import type { UpgradeAnswer, UpgradeCause } from '@/api/types'
import { t } from '@/i18n'
import { saveFile } from '@/ui/saveFile'
import { configurationParts } from './model/configuration'
import { causesOf, classes, podName, share } from './model/report'
import { causeName, explained, gateChange, gateTag, ignoredTimes, ignoredWhat, sentence, what } from './phrases'

export const formats = ['markdown', 'text', 'json'] as const
export type Format = (typeof formats)[number]

/** The parts of a document. */
type Block =
  | { heading: string; level: 1 | 2 }
  | { text: string }
  | { table: readonly (readonly string[])[] }
  | { code: readonly string[] }

function causeText(cause: UpgradeCause, answer: UpgradeAnswer): string {
  const proven = t(cause.proven ? 'upgrade.proven' : 'upgrade.notProven')
  return `${causeName(cause)}: ${explained(cause, answer) ?? what(cause)} (${proven})`
}

export function reportBlocks(answer: UpgradeAnswer, file: string): Block[] {
  const causes = causesOf(answer, '')
  const parts = configurationParts(answer.configuration)
  const { gates } = answer.configuration
  const sides = [answer.from, answer.to].filter(({ ignored }) => ignored?.length)
  return [
    { heading: t('upgrade.title'), level: 1 },
    { text: sentence(answer) },
    { text: `${file || t('upgrade.thisCluster')}: ${answer.from.version} → ${answer.to.version}` },
    { heading: t('upgrade.changes'), level: 2 },
    {
      table: [
        [t('upgrade.document.class'), t('upgrade.document.count'), t('upgrade.document.share')],
        ...classes.map((of) => [t(`upgrade.class.${of}`), String(answer[of]), share(answer[of], answer.pods)]),
      ],
    },
    { heading: t('upgrade.causes'), level: 2 },
    ...(causes.length
      ? [
          {
            table: [
              [
                t('upgrade.document.count'),
                t('upgrade.document.class'),
                t('upgrade.document.cause'),
                t('upgrade.document.gate'),
                t('upgrade.document.example'),
              ],
              ...causes.map(({ cause }) => [
                String(cause.pods),
                t(`upgrade.class.${cause.class}`),
                causeText(cause, answer),
                cause.gates?.join(t('common.separator')) ?? gateTag(cause, answer.configuration)?.text ?? '',
                podName(cause.example.pod),
              ]),
            ],
          },
        ]
      : [{ text: t('upgrade.noCauses') }]),
    { heading: t('upgrade.settings'), level: 2 },
    parts.length
      ? {
          code: parts.flatMap(({ title, lines }) => [
            `  ${title}:`,
            ...lines.map(({ mark, text, skipped }) =>
              skipped ? `    ${t('upgrade.unchanged', { n: skipped })}` : `${mark || ' '}   ${text}`
            ),
          ]),
        }
      : { text: t('upgrade.noSettings') },
    { heading: t('upgrade.gates'), level: 2 },
    gates.length
      ? {
          table: [
            [t('upgrade.document.gate'), `${answer.from.version} → ${answer.to.version}`],
            ...gates.map((gate) => [gate.name, gateChange(gate)]),
          ],
        }
      : { text: t('upgrade.noGates') },
    ...sides.flatMap((side): Block[] => [
      { heading: t('upgrade.ignoredBy', { version: side.version }), level: 2 },
      {
        table: [
          ['', '', ''],
          ...(side.ignored ?? []).map((one) => [`${one.apiVersion} ${one.kind}`, ignoredWhat(one), ignoredTimes(one)]),
        ],
      },
    ]),
  ]
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

function markdown(block: Block): string {
  if ('heading' in block) return `${'#'.repeat(block.level)} ${block.heading}`
  if ('text' in block) return block.text
  if ('code' in block) return ['```diff', ...block.code, '```'].join('\n')
  const [head = [], ...rows] = block.table
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Characters as wide as two in a terminal. */
const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]/g
const widthOf = (text: string): number => text.length + (text.match(wide)?.length ?? 0)

function plain(block: Block): string {
  if ('heading' in block) return `${block.heading}\n${(block.level === 1 ? '=' : '-').repeat(widthOf(block.heading))}`
  if ('text' in block) return block.text
  if ('code' in block) return block.code.join('\n')
  const widths = (block.table[0] ?? []).map((_, i) => Math.max(...block.table.map((row) => widthOf(row[i] ?? ''))))
  return block.table
    .filter((row) => row.some((text) => text))
    .map((row) =>
      row
        .map((text, i) => text + ' '.repeat((widths[i] ?? 0) - widthOf(text)))
        .join('  ')
        .trimEnd()
    )
    .join('\n')
}

export function reportText(answer: UpgradeAnswer, format: Format, file = ''): string {
  if (format === 'json') return `${JSON.stringify(answer, null, 2)}\n`
  return `${reportBlocks(answer, file)
    .map(format === 'markdown' ? markdown : plain)
    .join('\n\n')}\n`
}

const files = {
  markdown: { end: 'md', type: 'text/markdown' },
  text: { end: 'txt', type: 'text/plain' },
  json: { end: 'json', type: 'application/json' },
} as const

export function download(answer: UpgradeAnswer, format: Format, file: string): void {
  const { end, type } = files[format]
  saveFile(`upgrade-${answer.from.minor}-${answer.to.minor}.${end}`, reportText(answer, format, file), type)
}
