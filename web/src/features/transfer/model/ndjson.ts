// Parses lines of JSON from a text that arrives in parts.

/** Takes parts of a text and returns the values of its complete lines. */
export class LineReader {
  private rest = ''

  /** The values of the lines that this part completes. Throws when a line is not JSON. */
  read(part: string): unknown[] {
    const lines = (this.rest + part).split('\n')
    this.rest = lines.pop() ?? ''
    return lines.filter((line) => line.trim()).map((line) => JSON.parse(line) as unknown)
  }

  /** The value of a last line without a newline. */
  end(): unknown[] {
    const last = this.rest
    this.rest = ''
    return last.trim() ? [JSON.parse(last) as unknown] : []
  }
}
