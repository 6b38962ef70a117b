// The question of the page, which is in its address; the comparison, which runs in the server; and its progress.

import { useIntervalFn } from '@vueuse/core'
import { computed, onScopeDispose, ref, shallowRef } from 'vue'
import type { UpgradeJob, UpgradeVersion } from '@/api/types'
import { deleteUpgrade, getUpgrade, startUpgrade, startUpgradeOfFile } from '@/api/upgrade'
import { useQuery } from '@/ui/query'
import { useAttempt } from '@/ui/useAttempt'
import { chosenVersions } from './model/versions'

/** The progress is read this often (ms). */
const pace = 500

/** Each version fills in its own defaults. Without a configuration, the one in force is asked. */
const ownDefaults = 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n'

export function useUpgrade() {
  const fromAsked = useQuery('from')
  const toAsked = useQuery('to')
  const configuration = useQuery('configuration', 'current', ['current', 'default'])
  const versions = shallowRef<readonly UpgradeVersion[]>([])
  const chosen = computed(() => chosenVersions(versions.value, fromAsked.value, toAsked.value))
  const from = computed({ get: () => chosen.value.from, set: (version) => (fromAsked.value = version) })
  const to = computed({ get: () => chosen.value.to, set: (version) => (toAsked.value = version) })
  const notBuilt = computed(() =>
    versions.value.filter(({ minor, built }) => !built && (minor === from.value || minor === to.value))
  )

  const job = shallowRef<UpgradeJob>()
  /** The first answer of the server is here. */
  const loaded = ref(false)
  const running = computed(() => job.value?.state === 'running')
  const { busy, error, attempt } = useAttempt()
  /** The share of a file that the server has; undefined when none is on its way. */
  const sent = ref<number>()
  const away = new AbortController()
  onScopeDispose(() => away.abort())

  const { pause, resume } = useIntervalFn(() => void read(), pace, { immediate: false })
  let reading = false
  async function read() {
    if (reading) return
    reading = true
    try {
      const state = await getUpgrade(away.signal)
      versions.value = state.versions
      job.value = state.latest
      error.value = undefined
    } catch (reason) {
      if (!away.signal.aborted) error.value = reason
    } finally {
      reading = false
    }
    if (running.value || error.value) resume()
    else pause()
  }
  async function load() {
    await read()
    loaded.value = true
  }
  void load()

  const begin = (start: () => Promise<UpgradeJob>) =>
    attempt(async () => {
      job.value = await start()
      resume()
    })
  const question = () => ({ from: from.value, to: to.value })
  const ask = () =>
    begin(() =>
      startUpgrade({ ...question(), ...(configuration.value === 'default' ? { configuration: ownDefaults } : {}) })
    )
  const askFile = (file: File) =>
    begin(async () => {
      try {
        sent.value = 0
        return await startUpgradeOfFile(question(), file, {
          sent: (done, total) => (sent.value = total ? done / total : 0),
          signal: away.signal,
        })
      } finally {
        sent.value = undefined
      }
    })
  const cancel = () =>
    attempt(async () => {
      await deleteUpgrade()
      await read()
    })
  function swap() {
    const { from: before, to: after } = question()
    from.value = after
    to.value = before
  }

  return {
    versions,
    from,
    to,
    configuration,
    notBuilt,
    job,
    loaded,
    running,
    busy,
    error,
    sent,
    load,
    ask,
    askFile,
    cancel,
    swap,
  }
}

export type Upgrading = ReturnType<typeof useUpgrade>
