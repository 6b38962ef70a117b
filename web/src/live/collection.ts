// A collection follows one subscription: frames in, a plain Map out.

import type { Frame } from '@/api/watch'

/**
 * The objects of one subscription by key. Frames are applied in place; a list of several
 * frames after the first complete one is collected separately and swapped in as a whole,
 * so that a reconnect does not empty the screen.
 */
export class Collection<T> {
  items = new Map<string, T>()
  /** A complete list has arrived at least once. */
  synced = false
  private staging: Map<string, T> | undefined
  private changed = new Set<string>()

  /** `same` compares a listed item with the known one; if they are the same, the known object stays. */
  constructor(
    private readonly keyOf: (item: T) => string,
    private readonly same: (a: T, b: T) => boolean = () => false
  ) {}

  /** The keys that were set or deleted since the last call. */
  takeChanged(): ReadonlySet<string> {
    const changed = this.changed
    this.changed = new Set()
    return changed
  }

  apply(frame: Frame<T>): void {
    if (frame.type === 'list') {
      if (frame.first) {
        this.staging = new Map()
        if (!this.synced) this.items = this.staging
      }
      const target = this.staging ?? this.items
      for (const item of frame.items) this.list(target, item)
      if (!frame.more) this.complete(target)
      return
    }
    const target = this.staging ?? this.items
    for (const { type, object } of frame.events) {
      const key = this.keyOf(object)
      if (type === 'DELETED') target.delete(key)
      else target.set(key, object)
      if (target === this.items) this.changed.add(key)
    }
  }

  private list(target: Map<string, T>, item: T): void {
    const key = this.keyOf(item)
    const known = this.items.get(key)
    target.set(key, known !== undefined && target !== this.items && this.same(known, item) ? known : item)
    if (target === this.items) this.changed.add(key)
  }

  private complete(target: Map<string, T>): void {
    if (target !== this.items) {
      for (const key of this.items.keys()) if (!target.has(key)) this.changed.add(key)
      for (const [key, item] of target) if (this.items.get(key) !== item) this.changed.add(key)
    }
    this.items = target
    this.staging = undefined
    this.synced = true
  }
}

/**
 * Cycle summaries, newest first, at most `limit` of them: those that arrived first are dropped.
 * A list arrives newest first; a changed summary keeps its position.
 */
export class Recent<T extends object> {
  synced = false
  private items: T[] = []
  private staging: T[] | undefined
  private index = new Map<string, number>()

  constructor(
    private readonly keyOf: (item: T) => string,
    readonly limit: number,
    /**
     * When an item began (ms): cycles end in another order. Items with equal times stay in the
     * order of arrival.
     */
    private readonly timeOf: (item: T) => number = () => 0
  ) {}

  apply(frame: Frame<T>): void {
    if (frame.type === 'list') {
      if (frame.first) this.staging = []
      const target = this.staging ?? [...this.items].reverse()
      target.push(...frame.items)
      if (frame.more) {
        this.staging = target
        return
      }
      this.staging = undefined
      this.synced = true
      this.replace(target.slice(0, this.limit).reverse())
      return
    }
    for (const { type, object } of frame.events) {
      const key = this.keyOf(object)
      const at = this.index.get(key)
      if (type === 'DELETED') {
        if (at !== undefined) this.replace(this.items.filter((_, i) => i !== at))
      } else if (at !== undefined) {
        this.items[at] = object
      } else {
        this.index.set(key, this.items.length)
        this.items.push(object)
      }
    }
    // Drops several at once, so that a steady stream does not rebuild the index each time.
    if (this.items.length > this.limit * 1.25) this.replace(this.items.slice(-this.limit))
  }

  /** A new array, newest first. */
  list(): T[] {
    const times = new Map(this.items.slice(-this.limit).map((item) => [item, this.timeOf(item)]))
    // Almost sorted already, which the sort takes advantage of.
    return [...times]
      .sort(([, a], [, b]) => a - b)
      .map(([item]) => item)
      .reverse()
  }

  private replace(oldestFirst: T[]): void {
    this.items = oldestFirst
    this.index = new Map(oldestFirst.map((item, i) => [this.keyOf(item), i]))
  }
}
