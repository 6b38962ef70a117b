import { beforeEach, describe, expect, it } from 'vitest'
import { ref } from 'vue'
import { galleryText } from './model/gallery'
import { ownScenarios } from './store/ownScenarios'
import { useFiles } from './useFiles'

describe('what is in the editor', () => {
  beforeEach(() => {
    for (const { name } of ownScenarios.all.value) ownScenarios.drop(name)
  })
  const files = (text: string) => {
    const scenario = ref(text)
    return {
      scenario,
      ...useFiles(
        scenario,
        () => undefined,
        () => undefined
      ),
    }
  }
  it('is replaced without a question while it is shipped, saved or empty', () => {
    ownScenarios.keep({ name: 'a', text: 'mine' })
    for (const text of [galleryText('a-node-fails'), 'mine', '']) {
      const { scenario, open, replacing } = files(text)
      open('next')
      expect([scenario.value, replacing.value]).toEqual(['next', undefined])
    }
  })
  it('is replaced only after a question otherwise', () => {
    const { scenario, open, put, replacing } = files('draft')
    open('next')
    expect([scenario.value, replacing.value]).toEqual(['draft', 'next'])
    put('next')
    expect([scenario.value, replacing.value]).toEqual(['next', undefined])
  })
  it('is saved under a name, suggested from its metadata, and renamed', () => {
    const { askName, naming, save, own } = files('metadata: {name: some}\n')
    askName()
    expect(naming.value).toEqual({ suggested: 'some' })
    save('some')
    askName(own.value[0])
    save('other')
    expect(own.value.map(({ name }) => name)).toEqual(['other'])
  })
})
