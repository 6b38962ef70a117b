// What comes into the editor, and what is saved of it: shipped scenarios, the user's own, recorded
// steps, and the cluster. Nothing that is saved nowhere is replaced without a question.

import { computed, ref, shallowRef, type Ref } from 'vue'
import { getClusterScenario, getStepsScenario } from '@/api/runs'
import { t } from '@/i18n'
import { notify } from '@/ui/notices'
import type { OwnText } from '@/ui/ownTexts'
import { saveFile } from '@/ui/saveFile'
import { cards, nameIn } from './model/gallery'
import { ownScenarios } from './store/ownScenarios'

export interface Part {
  /** Moments or times; '' for the oldest one and now. */
  from: string
  to: string
}

/** opened is called after another scenario came into the editor. */
export function useFiles(scenario: Ref<string>, opened: () => void, fail: (error: unknown) => void) {
  const own = ownScenarios.all
  /** What waits for the answer whether it may replace the editor's text. */
  const replacing = shallowRef<string>()
  const fetching = ref(false)
  /** The dialog for a name, of a new scenario or of one to rename. */
  const naming = shallowRef<{ rename?: string; suggested: string }>()
  const notKept = ref(false)
  const dropping = ref('')

  const saved = computed(
    () =>
      !scenario.value.trim() ||
      cards.some(({ text }) => text === scenario.value) ||
      own.value.some(({ text }) => text === scenario.value)
  )
  function put(text: string) {
    replacing.value = undefined
    scenario.value = text
    opened()
  }
  function open(text: string) {
    if (saved.value || text === scenario.value) put(text)
    else replacing.value = text
  }
  async function fetched(get: () => Promise<string>) {
    fetching.value = true
    try {
      open(await get())
    } catch (error) {
      fail(error)
    } finally {
      fetching.value = false
    }
  }
  return {
    own,
    saved,
    replacing,
    fetching,
    naming,
    notKept,
    dropping,
    put,
    open,
    record: ({ from, to }: Part) => fetched(() => getStepsScenario({ ...(from && { from }), ...(to && { to }) })),
    fromCluster: () => fetched(getClusterScenario),
    askName(of?: OwnText) {
      notKept.value = false
      const here = own.value.find(({ text }) => text === scenario.value)
      naming.value = of ? { rename: of.name, suggested: of.name } : { suggested: here?.name ?? nameIn(scenario.value) }
    },
    save(name: string) {
      const { rename } = naming.value ?? {}
      const done =
        rename === undefined ? ownScenarios.keep({ name, text: scenario.value }) : ownScenarios.rename(rename, name)
      notKept.value = !done
      if (!done) return
      naming.value = undefined
      if (rename === undefined) notify('done', t('runs.savedAs', { name }))
    },
    drop() {
      if (ownScenarios.drop(dropping.value)) dropping.value = ''
    },
    download: ({ name, text }: OwnText) => saveFile(`${name}.yaml`, text, 'application/yaml'),
  }
}
