// The labels of the nodes and their numbers of different values, which determine how the
// map can be grouped.

type Labels = Readonly<Record<string, string>> | undefined

/** Counts values incrementally, so that the cost of a change does not depend on the number of nodes. */
export class LabelValues {
  private readonly nodesWith = new Map<string, Map<string, number>>()
  private counted: ReadonlyMap<string, number> = new Map()
  private readonly touched = new Set<string>()

  /** A node's labels changed from `before` to `after`; undefined when the node does not exist. */
  change(before: Labels, after: Labels): void {
    if (before === after) return
    for (const key in before) if (before[key] !== after?.[key]) this.count(key, before[key] ?? '', -1)
    for (const key in after) if (after[key] !== before?.[key]) this.count(key, after[key] ?? '', 1)
  }

  /** How many values each label has. The same Map until that changes. */
  distinct(): ReadonlyMap<string, number> {
    const differs = [...this.touched].some((key) => this.counted.get(key) !== this.nodesWith.get(key)?.size)
    if (differs) this.counted = new Map([...this.nodesWith].map(([key, values]) => [key, values.size]))
    this.touched.clear()
    return this.counted
  }

  private count(key: string, value: string, by: 1 | -1): void {
    const values = this.nodesWith.get(key) ?? new Map<string, number>()
    const nodes = (values.get(value) ?? 0) + by
    if (nodes > 0) values.set(value, nodes)
    else values.delete(value)
    if (values.size) this.nodesWith.set(key, values)
    else this.nodesWith.delete(key)
    this.touched.add(key)
  }
}
