// A line about what a plugin compared: a sentence and its values, which may be phrases themselves.

/** Its sentence is the message `cellPanel.comparison.<kind>`; `count` selects the plural form. */
export interface ComparisonLine {
  kind: string
  values: Record<string, string | number | ComparisonLine>
  count?: number
}

export const line = (kind: string, values: ComparisonLine['values'] = {}, count?: number): ComparisonLine =>
  count === undefined ? { kind, values } : { kind, values, count }

type Translate = (key: string, values: Record<string, unknown>, count?: number) => string

export function lineText({ kind, values, count }: ComparisonLine, t: Translate): string {
  const said = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'object' ? lineText(value, t) : value])
  )
  const key = `cellPanel.comparison.${kind}`
  return count === undefined ? t(key, said) : t(key, said, count)
}
