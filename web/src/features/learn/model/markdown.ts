// The part of Markdown that lessons use, parsed into data. The page renders the data as elements
// and never as HTML,
// so the text of a lesson cannot run code or load anything.

export type Inline =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'strong' | 'emphasis'; of: Inline[] }
  /** `to` is a path of the application, which starts with a slash, or an http(s) address. */
  | { kind: 'link'; to: string; of: Inline[] }

export type Block =
  | { kind: 'heading' | 'paragraph'; of: Inline[] }
  | { kind: 'code'; text: string }
  | { kind: 'list'; ordered: boolean; items: Inline[][] }
  | { kind: 'quote'; of: Block[] }
  | { kind: 'table'; head: Inline[][]; rows: Inline[][][] }

const fence = /^(`{3,}|~{3,})/
const heading = /^#{1,6}\s+(.*?)\s*#*$/
const item = /^\s{0,3}(?:([-*+])|\d{1,3}[.)])\s+(.*)$/
const indented = /^(?: {4}|\t)/
const quoted = /^\s{0,3}>\s?/
const divider = /^\s*\|?(?:\s*:?-+:?\s*\|)+\s*:?-*:?\s*$/
const blank = (line: string | undefined) => line === undefined || line.trim() === ''

export function parseMarkdown(text: string): Block[] {
  const lines = text.replace(/\r\n?/g, '\n').split('\n')
  const blocks: Block[] = []
  let at = 0
  /** Takes lines while `more` holds. */
  const take = (more: (line: string) => boolean): string[] => {
    const from = at
    while (at < lines.length && more(lines[at] ?? '')) at++
    return lines.slice(from, at)
  }
  while (at < lines.length) {
    const line = lines[at] ?? ''
    const opened = fence.exec(line)?.[1]
    if (blank(line)) at++
    else if (opened) {
      at++
      const code = take((l) => !l.startsWith(opened))
      at++
      blocks.push({ kind: 'code', text: code.join('\n') })
    } else if (indented.test(line)) {
      const code = take((l) => indented.test(l) || blank(l))
      blocks.push({
        kind: 'code',
        text: code
          .map((l) => l.replace(indented, ''))
          .join('\n')
          .trimEnd(),
      })
    } else if (heading.test(line)) {
      at++
      blocks.push({ kind: 'heading', of: parseInline(heading.exec(line)?.[1] ?? '') })
    } else if (quoted.test(line)) {
      blocks.push({
        kind: 'quote',
        of: parseMarkdown(
          take((l) => quoted.test(l))
            .map((l) => l.replace(quoted, ''))
            .join('\n')
        ),
      })
    } else if (item.test(line)) blocks.push(takeList())
    else if (line.includes('|') && divider.test(lines[at + 1] ?? '')) {
      const [head = '', , ...rows] = take((l) => l.includes('|'))
      blocks.push({ kind: 'table', head: cellsOf(head), rows: rows.map(cellsOf) })
    } else {
      // A line that starts another block ends the paragraph, except an indented one, which continues it.
      const own = [
        line,
        ...(at++, take((l) => !blank(l) && !fence.test(l) && !heading.test(l) && !item.test(l) && !quoted.test(l))),
      ]
      blocks.push({ kind: 'paragraph', of: parseInline(joined(own)) })
    }
  }
  return blocks

  function takeList(): Block {
    const ordered = !item.exec(lines[at] ?? '')?.[1]
    const items: string[][] = []
    while (at < lines.length) {
      const found = item.exec(lines[at] ?? '')
      if (found && !found[1] === ordered) items.push([found[2] ?? ''])
      else if (!found && !blank(lines[at]) && /^\s/.test(lines[at] ?? '')) items.at(-1)?.push(lines[at] ?? '')
      else if (!(blank(lines[at]) && item.test(lines[at + 1] ?? ''))) break
      at++
    }
    return { kind: 'list', ordered, items: items.map((one) => parseInline(joined(one))) }
  }
}

const wide = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー、。（）「」？]/u

/** Lines as one. A break between Japanese characters is no space. */
function joined(lines: readonly string[]): string {
  return lines
    .map((line) => line.trim())
    .reduce((before, line) => before + (wide.test(before.at(-1) ?? '') && wide.test(line.charAt(0)) ? '' : ' ') + line)
}

function cellsOf(row: string): Inline[][] {
  return row
    .trim()
    .replace(/^\||\|$/g, '')
    .split('|')
    .map((cell) => parseInline(cell.trim()))
}

const token = /\\([\\`*_[\]()#|-])|(`+)(.+?)\2(?!`)|\*\*(\S|\S.*?\S)\*\*|\*(\S|\S[^*]*?\S)\*|\[([^\]]+)\]\(([^()\s]+)\)/

export function parseInline(text: string): Inline[] {
  const found: Inline[] = []
  const add = (plain: string) => {
    const last = found.at(-1)
    if (last?.kind === 'text') last.text += plain
    else if (plain) found.push({ kind: 'text', text: plain })
  }
  let rest = text
  for (let match = token.exec(rest); match; match = token.exec(rest)) {
    add(rest.slice(0, match.index))
    rest = rest.slice(match.index + match[0].length)
    const [, escaped, , code, strong, emphasis, label, to] = match
    if (escaped) add(escaped)
    else if (code !== undefined) found.push({ kind: 'code', text: code.trim() })
    else if (strong !== undefined) found.push({ kind: 'strong', of: parseInline(strong) })
    else if (emphasis !== undefined) found.push({ kind: 'emphasis', of: parseInline(emphasis) })
    else if (label !== undefined && to !== undefined) {
      if (safe(to)) found.push({ kind: 'link', to, of: parseInline(label) })
      else add(label)
    }
  }
  add(rest)
  return found
}

/** A path of the application or a web address; never javascript: or another host without its scheme. */
const safe = (to: string) => /^https?:\/\/[^\\]+$/i.test(to) || /^\/(?![/\\])/.test(to)
