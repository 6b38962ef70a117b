import { expect, it } from 'vitest'
import { wholeNames } from './copiedNames'

it('copies a name in one piece', () => {
  const name = document.createElement('span')
  name.dataset.name = 'web-6d9f7c8b5-x2x9z'
  name.innerHTML = '<span>web-6d9f7c8b5</span><span>-x2x9z</span>'
  expect(wholeNames('pod web-6d9f7c8b5\n-x2x9z\nruns', [name])).toBe('pod web-6d9f7c8b5-x2x9z\nruns')
})
