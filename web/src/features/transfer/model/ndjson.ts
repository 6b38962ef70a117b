// Lines of JSON out of a text that comes in parts.

/** Takes parts of a text and gives what its whole lines hold. */
export class LineReader {
  private rest = ''

  /** The values of the lines that part completes. Throws when a line is not JSON. */
  read(part: string): unknown[] {
    const lines = (this.rest + part).split('\n')
    this.rest = lines.pop() ?? ''
    return lines.filter((line) => line.trim()).map((line) => JSON.parse(line) as unknown)
  }

  /** The value of a last line that no newline ended. */
  end(): unknown[] {
    const last = this.rest
    this.rest = ''
    return last.trim() ? [JSON.parse(last) as unknown] : []
  }
}
