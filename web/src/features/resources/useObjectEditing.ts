// Edits one object as YAML. Nothing replaces the user's text: a newer version, a conflict or
// the deletion of the object is only reported beside it.

import { computed, ref, shallowRef, watch } from 'vue'
import { ApiError } from '@/api/http'
import { createObject, getObject, replaceObject, replaceStatus } from '@/api/kubernetes'
import type { KubeObject } from '@/api/types'
import { changeable, patchBetween } from '@/features/act/model/write'
import { done } from '@/features/act/done'
import { asRefusal, locate } from '@/features/create/model/batch'
import { t } from '@/i18n'
import { withoutServerMetadata } from '@/kubernetes/object'
import { parseText, toYaml, type Entry, type Problem } from '@/features/yaml/model/documents'
import { mergeChanges } from '@/kubernetes/merge'
import { notify } from '@/ui/notices'
import { bodyOf, isTextOf, needsStatusWrite, withType } from './model/objectText'
import { useObjectVersions, type ShownObject } from './useObjectVersions'

export type DetailTab = 'yaml' | 'changes' | 'events'

export type ObjectEditing = ReturnType<typeof useObjectEditing>

/** goTo moves the editor's cursor to the first problem. */
export function useObjectEditing(of: Readonly<ShownObject>, goTo: (line: number, column?: number) => void) {
  const tab = ref<DetailTab>('yaml')
  const text = ref('')
  const original = ref('')
  const editing = ref(false)
  const saving = ref(false)
  /** The last write failed because the object had changed. */
  const conflict = ref(false)
  const problems = shallowRef<readonly Problem[]>([])
  const tried = shallowRef<KubeObject>()
  const dirty = computed(() => editing.value && text.value !== original.value)

  const versions = useObjectVersions(of, { hold: () => editing.value, shown: start })
  const { object, newest, outdated, gone, error, look, show, wrote } = versions

  function start(found: KubeObject) {
    original.value = toYaml(found)
    text.value = original.value
    conflict.value = false
    forget()
  }
  function forget() {
    problems.value = []
    tried.value = undefined
  }
  watch(text, forget)
  watch(versions.key, () => {
    editing.value = false
    tab.value = 'yaml'
  })

  function edit() {
    tab.value = 'yaml'
    editing.value = true
  }
  function discard() {
    editing.value = false
    tab.value = 'yaml'
    error.value = undefined
    if (newest.value && !gone.value) return show(newest.value)
    text.value = original.value
    conflict.value = false
    problems.value = []
  }

  /** Parses the text; sets problems unless it describes exactly this object. */
  function read(): Entry | undefined {
    const { entries, problems: found } = parseText(text.value)
    const entry = entries[0]
    if (!found.length && entries.length !== 1) problems.value = [{ line: 1, message: t('resources.oneDocument') }]
    else if (entry && !isTextOf(entry, of))
      problems.value = [{ line: entry.line, message: t('resources.identityChanged') }]
    else problems.value = found
    if (!problems.value.length) return entry
    showFirst()
    return undefined
  }
  function showFirst() {
    const first = problems.value[0]
    tab.value = 'yaml'
    if (first) requestAnimationFrame(() => goTo(first.line, first.column))
  }

  /**
   * Runs a request with the parsed text, unless another one is running or the object is gone. Shows
   * refusals at their lines.
   */
  async function send(request: (entry: Entry) => Promise<void>) {
    if (saving.value || gone.value) return
    error.value = undefined
    const entry = read()
    if (!entry) return
    saving.value = true
    try {
      await request(entry)
    } catch (reason) {
      await refused(entry, reason)
    } finally {
      saving.value = false
    }
  }
  async function refused(entry: Entry, reason: unknown) {
    const code = reason instanceof ApiError ? reason.code : undefined
    if (code === 404) gone.value = true
    else if (code === 409) {
      conflict.value = true
      await look()
    } else {
      error.value = reason
      problems.value = locate(entry, asRefusal(reason))
      showFirst()
    }
  }

  function save(overwrite = false) {
    if (!saving.value && !gone.value) conflict.value = false
    return send(async (entry) => {
      const version = overwrite ? (await getObject(of.kind, of.namespace, of.name)).metadata.resourceVersion : undefined
      const body = bodyOf(entry, of.namespace, version)
      let saved = await replaceObject(of.kind, body)
      if (needsStatusWrite(of.kind, body, object.value)) {
        const metadata = {
          ...body.metadata,
          ...(saved.metadata.resourceVersion ? { resourceVersion: saved.metadata.resourceVersion } : {}),
        }
        saved = await replaceStatus(of.kind, { ...body, metadata })
      }
      const before = object.value
      editing.value = false
      tab.value = 'yaml'
      wrote(withType(of.kind, saved))
      done('edit', [
        {
          write: {
            op: 'merge',
            of: { kind: of.kind, namespace: of.namespace, name: of.name },
            patch: patchBetween(before ? changeable(before) : {}, changeable(saved)),
          },
          effect: { before, after: saved },
        },
      ])
    })
  }
  const dryRun = () =>
    send(async (entry) => {
      tried.value = withType(of.kind, await replaceObject(of.kind, bodyOf(entry, of.namespace), true))
      tab.value = 'changes'
    })

  async function createAgain() {
    const entry = read()
    if (!entry || saving.value) return
    saving.value = true
    try {
      const created = await createObject(
        of.kind,
        of.namespace,
        withoutServerMetadata(bodyOf(entry, of.namespace)),
        false
      )
      editing.value = false
      wrote(withType(of.kind, created))
      notify('done', t('create.done', { names: of.name }))
    } catch (reason) {
      error.value = reason
      problems.value = locate(entry, asRefusal(reason))
    } finally {
      saving.value = false
    }
  }

  // A conflict and the newer version that caused it arrive in either order.
  watch(
    () => conflict.value && outdated.value && !gone.value,
    (differs) => differs && (tab.value = 'changes')
  )
  const mine = computed(() => (conflict.value || outdated.value ? parseText(text.value).entries[0]?.object : undefined))
  /** The text's changes applied to the newest version. */
  const merged = computed(() =>
    mine.value && newest.value && object.value && !gone.value
      ? mergeChanges(object.value, mine.value, newest.value)
      : undefined
  )
  /** Continues with the merge of the newest version and the text's changes. */
  function merge() {
    if (!merged.value || !newest.value) return
    const next = toYaml(merged.value.object)
    show(newest.value)
    editing.value = true
    tab.value = 'changes'
    text.value = next
  }
  /** Discards the changes and continues with the newest version. */
  function reload() {
    if (newest.value) show(newest.value)
    else void look()
    tab.value = 'yaml'
  }

  return {
    object,
    newest,
    outdated,
    gone,
    error,
    look,
    tab,
    text,
    original,
    editing,
    dirty,
    saving,
    conflict,
    problems,
    tried,
    mine,
    merged,
    edit,
    discard,
    save,
    dryRun,
    createAgain,
    merge,
    reload,
  }
}
