import { describe, expect, it } from 'vitest'
import { router } from './router'
import { placeNames, placeOf, places, views } from './features/shell/model/places'
import { placeKeys } from './features/shell/model/shortcuts'

describe('the places', () => {
  it('have views that are routes, each in one place', () => {
    expect(new Set(views).size).toBe(views.length)
    for (const view of views) {
      const to = router.resolve({ name: view })
      expect(to.matched, view).not.toEqual([])
      expect(to.meta.view ?? view, view).toBe(view)
      expect(places[placeOf(view) ?? 'cluster']).toContain(view)
    }
  })
  it('hold every page but those beside them', () => {
    const beside = router.getRoutes().filter((r) => !r.redirect && !placeOf(r.meta.view))
    expect(beside.map((r) => r.name)).toEqual(['parts', 'notFound'])
  })
  it('are reached by a key each', () => {
    for (const place of placeNames) expect(Object.values(placeKeys)).toContain(places[place][0])
  })
})
