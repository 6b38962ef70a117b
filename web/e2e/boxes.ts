// What is wrong with the boxes of a page: texts that overlap, text that is cut without its
// whole at hand, names cut where they differ, targets that are too small, boxes that scroll by a
// hair, and a page that scrolls. Measured in the page; nothing is judged by eye.

import type { Page } from '@playwright/test'

/**
 * The faults of the page as it is now, as lines. An open dialog is measured alone: what is behind
 * it is inert.
 */
export async function faults(page: Page): Promise<string[]> {
  return page.evaluate(measure)
}

/** Runs in the page, so it may use nothing from outside. */
function measure(): string[] {
  interface Box {
    left: number
    top: number
    right: number
    bottom: number
  }
  /** Rounding, borders and the ascenders of a line height below 1 are no overlap. */
  const slack = 2
  const smallest = 24
  const found = new Set<string>()

  const dialogs = [...document.querySelectorAll('dialog[open]')]
  const scope: Element = dialogs[dialogs.length - 1] ?? document.body

  const nameOf = (element: Element): string => {
    const id = element.closest('[data-testid]')?.getAttribute('data-testid')
    const classes =
      typeof element.className === 'string' ? element.className.trim().split(/\s+/).filter(Boolean).slice(0, 2) : []
    return `${id ? `${id} ` : ''}${element.tagName.toLowerCase()}${classes.map((c) => `.${c}`).join('')}`
  }
  const short = (text: string) => (text.length > 40 ? `${text.slice(0, 39)}…` : text)
  const squeezed = (text: string) => text.replace(/\s+/g, ' ').trim()
  const cross = (a: Box, b: Box): Box => ({
    left: Math.max(a.left, b.left),
    top: Math.max(a.top, b.top),
    right: Math.min(a.right, b.right),
    bottom: Math.min(a.bottom, b.bottom),
  })
  const wide = (box: Box) => box.right - box.left
  const high = (box: Box) => box.bottom - box.top

  const styles = new Map<Element, CSSStyleDeclaration>()
  const clients = new Map<Element, Box | undefined>()
  /** What a clipping element lets through; undefined for inline boxes, which have no client area. */
  const clientOf = (at: Element): Box | undefined => {
    if (clients.has(at)) return clients.get(at)
    const rect = at.getBoundingClientRect()
    const [left, top] = [rect.left + at.clientLeft, rect.top + at.clientTop]
    const box =
      at.clientWidth || at.clientHeight
        ? { left, top, right: left + at.clientWidth, bottom: top + at.clientHeight }
        : undefined
    clients.set(at, box)
    return box
  }
  const styleOf = (element: Element) => {
    let style = styles.get(element)
    if (!style) styles.set(element, (style = getComputedStyle(element)))
    return style
  }
  const shown = (element: Element) =>
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true })
  /** Text for screen readers only. */
  const spoken = (element: Element) =>
    element.closest('.vh, .skip') !== null || styleOf(element).clipPath === 'inset(50%)'
  /** The editor positions its own lines. */
  const edited = (element: Element) => element.closest('.cm-editor') !== null

  /** Rotated text has a box that says nothing about where its letters are. */
  const rotated = (element: Element): boolean => {
    for (let at: Element | null = element; at && at !== scope; at = at.parentElement) {
      const { transform } = styleOf(at)
      if (transform !== 'none' && Math.abs(new DOMMatrixReadOnly(transform).b) > 0.01) return true
    }
    return false
  }

  /** The surface that an element lies on: what is fixed, sticky or raised covers what scrolls below it. */
  const surfaceOf = (element: Element): Element => {
    for (let at: Element | null = element; at && at !== scope; at = at.parentElement) {
      const { position, zIndex } = styleOf(at)
      if (position === 'fixed' || position === 'sticky' || (position !== 'static' && Number(zIndex) > 0)) return at
    }
    return scope
  }

  /**
   * The part of a box that its ancestors let through, and the ancestor that cuts it without letting
   * it scroll.
   */
  const clip = (element: Element, box: Box): { visible: Box; cutter?: Element } => {
    let visible = box
    let cutter: Element | undefined
    let scrolls = false
    let { position } = styleOf(element)
    for (let at: Element | null = element; at && at !== document.documentElement; at = at.parentElement) {
      const style = styleOf(at)
      // A box that is positioned outside of an ancestor is not clipped by it.
      if (at !== element && position === 'absolute' && style.position === 'static' && style.transform === 'none')
        continue
      if (position === 'fixed') break
      const [x, y] = [style.overflowX, style.overflowY]
      if (x !== 'visible' || y !== 'visible') {
        const inner = clientOf(at)
        if (inner) {
          const scrollable = (value: string) => value === 'auto' || value === 'scroll'
          if (!scrolls && !cutter) {
            const cutX = !scrollable(x) && (visible.right > inner.right + 1 || visible.left < inner.left - 1)
            const cutY =
              !scrollable(y) && (visible.bottom > inner.bottom + slack + 1 || visible.top < inner.top - slack - 1)
            if (cutX || cutY) cutter = at
            if (scrollable(x) || scrollable(y)) scrolls = true
          }
          visible = cross(visible, inner)
        }
      }
      if (style.position !== 'static') position = style.position
    }
    return { visible, cutter }
  }

  /**
   * True if a title or label of the element or of an ancestor near it holds its whole text, or if
   * the page tells it under the pointer.
   */
  const atHand = (element: Element, text: string): boolean => {
    element.dispatchEvent(new PointerEvent('pointerover', { bubbles: true, pointerType: 'mouse' }))
    const told = squeezed(document.querySelector('.whole-text')?.textContent ?? '')
    document.body.dispatchEvent(new PointerEvent('pointerover', { bubbles: true, pointerType: 'mouse' }))
    if (told.includes(text)) return true
    let steps = 0
    for (let at: Element | null = element; at && at !== scope && steps < 6; at = at.parentElement, steps++) {
      for (const { name, value } of at.attributes) {
        if (name !== 'class' && name !== 'style' && name !== 'href' && squeezed(value).includes(text)) return true
      }
    }
    return false
  }

  /**
   * The last line of a label if it breaks badly: one letter alone, a number without its word, or
   * the end of a Latin word.
   */
  const orphanOf = (node: Node, element: Element, text: string): string => {
    const content = node.textContent ?? ''
    if (text.length > 24 || text.length < 3 || squeezed(element.textContent ?? '') !== text) return ''
    const letter = document.createRange()
    let top: number | undefined
    let last = ''
    for (let i = content.length - 1; i >= 0; i--) {
      letter.setStart(node, i)
      letter.setEnd(node, i + 1)
      const rect = letter.getClientRects()[0]
      if (!rect || !rect.width) continue
      top ??= rect.top
      if (Math.abs(rect.top - top) > 3) {
        const alone = squeezed(last)
        return alone.length === 1 || /^\d+$/.test(alone) || (/^[a-z]+$/i.test(alone) && /[a-z]/i.test(content[i] ?? ''))
          ? alone
          : ''
      }
      last = `${content[i] ?? ''}${last}`
      if (last.length > 3) return ''
    }
    return ''
  }

  /** A name of Kubernetes that has been told from others by a number or a generated end. */
  const isName = (text: string) => /^(?=.{12,}$)[a-z0-9]+(?:[-.][a-z0-9]+)*-(?=[a-z]*\d)[a-z0-9]+$/.test(text)
  /** The text ends in an ellipsis, in its own box or in one around it. */
  const cutAtEnd = (element: Element): boolean => {
    for (let at: Element | null = element, steps = 0; at && at !== scope && steps < 3; at = at.parentElement, steps++) {
      const style = styleOf(at)
      if (style.overflowX !== 'visible' && style.textOverflow === 'ellipsis') return at.scrollWidth > at.clientWidth
    }
    return false
  }

  // ── texts ──────────────────────────────────────────────────────────────
  interface Text {
    element: Element
    text: string
    lines: Box[]
    surface: Element
  }
  const texts: Text[] = []
  const walker = document.createTreeWalker(scope, NodeFilter.SHOW_TEXT)
  const range = document.createRange()
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement
    const text = squeezed(node.textContent ?? '')
    if (
      !element ||
      !text ||
      /^(?:SCRIPT|STYLE|OPTION|NOSCRIPT)$/.test(element.tagName) ||
      !shown(element) ||
      spoken(element) ||
      edited(element)
    )
      continue
    if (element.closest('.whole-text') || rotated(element)) continue
    range.selectNodeContents(node)
    const lines: Box[] = []
    let cutter: Element | undefined
    for (const rect of range.getClientRects()) {
      if (rect.width < 1 || rect.height < 1) continue
      const part = clip(element, rect)
      cutter ??= part.cutter
      if (wide(part.visible) > 1 && high(part.visible) > 1) lines.push(part.visible)
    }
    if (cutter && !atHand(element, text) && !atHand(element, squeezed(element.textContent ?? '')))
      found.add(`cut: “${short(text)}” in ${nameOf(element)}, by ${nameOf(cutter)}`)
    // A name-text keeps the end of its name beside what it cuts.
    if (isName(text) && lines.length && !element.closest('.name-text') && cutAtEnd(element))
      found.add(`cut at its end: “${text}” in ${nameOf(element)}`)
    const orphan = orphanOf(node, element, text)
    if (orphan) found.add(`orphan: “${orphan}” of “${short(text)}” in ${nameOf(element)}`)
    if (lines.length) texts.push({ element, text, lines, surface: surfaceOf(element) })
  }

  // Only texts on the same surface can overlap by mistake.
  const all = texts
    .flatMap((text) => text.lines.map((line) => ({ ...text, line })))
    .sort((a, b) => a.line.top - b.line.top)
  for (let i = 0; i < all.length; i++) {
    const a = all[i]
    if (!a) continue
    for (let j = i + 1; j < all.length; j++) {
      const b = all[j]
      if (!b || b.line.top >= a.line.bottom - slack) break
      if (a.element === b.element || a.surface !== b.surface) continue
      const common = cross(a.line, b.line)
      if (wide(common) > slack && high(common) > Math.max(slack, Math.min(high(a.line), high(b.line)) / 4))
        found.add(`overlap: “${short(a.text)}” in ${nameOf(a.element)} and “${short(b.text)}” in ${nameOf(b.element)}`)
    }
  }

  // ── placeholders ───────────────────────────────────────────────────────
  const canvas = document.createElement('canvas').getContext('2d')
  for (const input of scope.querySelectorAll<HTMLInputElement>('input[placeholder]')) {
    if (!canvas || !shown(input) || input.value) continue
    const style = getComputedStyle(input)
    canvas.font = style.font
    const room = input.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)
    if (
      canvas.measureText(input.placeholder).width > room + 1 &&
      !atHand(input.parentElement ?? input, input.placeholder) &&
      input.title !== input.placeholder
    )
      found.add(`cut: placeholder “${short(input.placeholder)}” in ${nameOf(input)}`)
  }

  // ── targets ────────────────────────────────────────────────────────────
  interface Target {
    element: Element
    box: Box
    surface: Element
  }
  const interactive =
    'a[href], button, input:not([type="hidden"]), select, textarea, summary, [role="button"], [role="tab"], ' +
    '[role="menuitem"], [role="option"], [role="checkbox"], [role="switch"], [role="radio"], [role="slider"]'
  const targets: Target[] = []
  for (const element of scope.querySelectorAll(interactive)) {
    if (!shown(element) && !(element instanceof HTMLInputElement || element instanceof HTMLSelectElement)) continue
    if (
      edited(element) ||
      spoken(element) ||
      element.matches(':disabled, [aria-disabled="true"], [tabindex="-1"]:not([role])') ||
      !element.checkVisibility({ visibilityProperty: true })
    )
      continue
    const rects = [
      element.getBoundingClientRect(),
      ...[...((element as HTMLInputElement).labels ?? [])].map((label) => label.getBoundingClientRect()),
    ]
    for (const pseudo of ['::before', '::after']) {
      const style = getComputedStyle(element, pseudo)
      if (style.content === 'none' || style.position !== 'absolute') continue
      const own = element.getBoundingClientRect()
      const [left, top] = [
        own.left + element.clientLeft + parseFloat(style.left),
        own.top + element.clientTop + parseFloat(style.top),
      ]
      if (Number.isFinite(left) && Number.isFinite(top))
        rects.push(new DOMRect(left, top, parseFloat(style.width) || 0, parseFloat(style.height) || 0))
    }
    const box = {
      left: Math.min(...rects.map((r) => r.left)),
      top: Math.min(...rects.map((r) => r.top)),
      right: Math.max(...rects.map((r) => r.right)),
      bottom: Math.max(...rects.map((r) => r.bottom)),
    }
    const { visible } = clip(element, box)
    if (wide(visible) < 1 || high(visible) < 1) continue
    // What scrolls out of sight is as large as before.
    if (wide(visible) < wide(box) - 1 || high(visible) < high(box) - 1) continue
    targets.push({ element, box, surface: surfaceOf(element) })
  }
  /** A link in running text is as high as its line (2.5.8, inline). */
  const inline = (element: Element) => {
    const parent = element.parentElement
    if (!parent || styleOf(element).display !== 'inline') return false
    return [...parent.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && (n.textContent ?? '').trim().length > 1)
  }
  const middle = ({ left, top, right, bottom }: Box) => ({ x: (left + right) / 2, y: (top + bottom) / 2 })
  const small = ({ box }: Target) => wide(box) < smallest - 0.5 || high(box) < smallest - 0.5
  for (const target of targets) {
    if (!small(target) || inline(target.element)) continue
    // Spacing: a circle of 24 px around it meets no other target, and no other small target's circle.
    const { x, y } = middle(target.box)
    const crowding = targets.find((other) => {
      if (
        other === target ||
        other.surface !== target.surface ||
        other.element.contains(target.element) ||
        target.element.contains(other.element)
      )
        return false
      const [dx, dy] = [
        Math.max(other.box.left - x, 0, x - other.box.right),
        Math.max(other.box.top - y, 0, y - other.box.bottom),
      ]
      if (Math.hypot(dx, dy) < smallest / 2 - 0.5) return true
      const at = middle(other.box)
      return small(other) && !inline(other.element) && Math.hypot(at.x - x, at.y - y) < smallest - 0.5
    })
    if (crowding)
      found.add(
        `small: ${nameOf(target.element)} “` +
          `${short(squeezed(target.element.getAttribute('aria-label') ?? target.element.textContent ?? ''))}` +
          `” is ${Math.round(wide(target.box))} × ${Math.round(high(target.box))}, beside ${nameOf(crowding.element)}`
      )
  }

  // ── scroll bars ────────────────────────────────────────────────────────
  for (const element of scope.querySelectorAll('*')) {
    if (edited(element) || !shown(element)) continue
    const { overflowX, overflowY } = styleOf(element)
    const scrolls = (overflow: string, by: number) => /auto|scroll/.test(overflow) && by > 0 && by < 3
    const [x, y] = [element.scrollWidth - element.clientWidth, element.scrollHeight - element.clientHeight]
    if (scrolls(overflowX, x) || scrolls(overflowY, y)) found.add(`scrolls by ${x} × ${y} px: ${nameOf(element)}`)
  }

  // ── the page ───────────────────────────────────────────────────────────
  const over = document.documentElement.scrollWidth - window.innerWidth
  if (over > 0) found.add(`the page is ${over} px wider than the window`)
  // The application's pages scroll within it; a report is a document.
  const below = document.documentElement.scrollHeight - window.innerHeight
  if (below > 0 && document.querySelector('.app')) found.add(`the page is ${below} px higher than the window`)
  return [...found]
}
