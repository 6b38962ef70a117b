// The document that the draft started from, and starting from another one.

import { computed, ref, shallowRef, type ComputedRef, type Ref, type ShallowRef } from 'vue'
import { useI18n } from 'vue-i18n'
import { begin } from './model/draft'
import { nameOfOwn, ownOrigin, type OwnPreset } from './model/ownPresets'
import { presetNames, presets, presetsToCheck, type PresetName } from './model/presets'
import { dirty, draft, running, useAccepted } from './store/configuration'

/** A document to start from. */
export interface Start {
  text: string
  /** As in Draft. */
  origin: string
}

export interface DraftStart {
  /** The built-in preset that the draft started from; '' for other origins. */
  preset: ComputedRef<PresetName | ''>
  /** The name of the user's preset that the draft started from. */
  ownPreset: ComputedRef<string | undefined>
  /** The origin in words, with the revision that the draft is based on. */
  about: ComputedRef<string>
  /** The presets that this server accepts. */
  offered: ComputedRef<readonly PresetName[]>
  choosePreset(name: PresetName): void
  chooseOwn(preset: OwnPreset): void
  /** Starts from a document. Asks first if changes would be lost. */
  startFrom(text: string, origin: string): void
  /** The document that waits for confirmation, because changes would be lost. */
  replacing: ShallowRef<Start | undefined>
  replace(start: Start): void
  /**
   * Call it after saving the text as the user's preset, which another document may then replace
   * without asking.
   */
  savedAs(name: string): void
}

/** started is called after another document has replaced the draft. */
export function useDraftStart(started: () => void): DraftStart {
  const { t } = useI18n()
  /** The document that the draft started from, so replacing this text loses nothing. */
  const startText = ref('')
  const replacing = shallowRef<Start>()
  const origin = computed(() => draft.value?.origin ?? '')
  const preset = computed(() => presetNames.find((name) => name === origin.value) ?? '')
  const ownPreset = computed(() => nameOfOwn(origin.value))
  const accepted = new Map<PresetName, Ref<boolean>>(presetsToCheck.map((name) => [name, useAccepted(presets[name])]))

  function startFrom(text: string, from: string) {
    if (!running.value) return
    const now = draft.value
    const loses = dirty.value && now?.origin !== from && now?.text !== text && now?.text !== startText.value
    if (loses) replacing.value = { text, origin: from }
    else replace({ text, origin: from })
  }
  function replace(start: Start) {
    if (running.value) draft.value = begin(start.text, start.origin, running.value)
    startText.value = start.text
    replacing.value = undefined
    started()
  }

  const from = computed(() => {
    if (ownPreset.value !== undefined) return t('scheduler.fromPreset', { name: ownPreset.value })
    if (preset.value) return t('scheduler.fromPreset', { name: t(`scheduler.preset.${preset.value}.title`) })
    return /^\d+$/.test(origin.value) ? t('scheduler.fromRevision', { n: origin.value }) : ''
  })
  return {
    preset,
    ownPreset,
    about: computed(() =>
      [from.value, t('scheduler.onTopOf', { n: draft.value?.base.revision ?? 0 })].filter(Boolean).join(' ')
    ),
    offered: computed(() => presetNames.filter((name) => accepted.get(name)?.value ?? true)),
    choosePreset: (name) => startFrom(presets[name], name),
    chooseOwn: (own) => startFrom(own.text, ownOrigin(own.name)),
    startFrom,
    replacing,
    replace,
    savedAs(name) {
      // The running text is not a draft, so it has no origin.
      if (draft.value && dirty.value) draft.value = { ...draft.value, origin: ownOrigin(name) }
      startText.value = draft.value?.text ?? ''
    },
  }
}
