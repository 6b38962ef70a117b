// Where a hint lies.

interface Size {
  width: number
  height: number
}

/** The space between a hint and its target, in px. */
const gap = 6

/** Below the target, or above it if there is no room; at least `margin` px from the window's sides. */
export function beside(target: DOMRect, { width, height }: Size, margin: number): { left: number; top: number } {
  const below = target.bottom + gap
  return {
    left: Math.max(margin, Math.min(target.left, window.innerWidth - width - margin)),
    top: below + height <= window.innerHeight - margin ? below : Math.max(margin, target.top - height - gap),
  }
}
