// Runs a composable in a test as a component's setup would: with messages, a router and lifecycle hooks.

import { mount } from '@vue/test-utils'
import { defineComponent, h } from 'vue'
import { createMemoryHistory, createRouter, RouterView, type Router, type RouteRecordRaw } from 'vue-router'
import { i18n } from '@/i18n'

export interface Running<T> {
  value: T
  router: Router
  /** Unmounts the page, which runs its lifecycle hooks. */
  unmount(): void
}

/**
 * Calls `use` in the setup of an empty page at the URL `at`. Every path shows this page, also
 * those of `routes`, which add names and parameters.
 */
export async function withSetup<T>(use: () => T, { at = '/', routes = [] }: { at?: string; routes?: readonly Omit<RouteRecordRaw, 'component' | 'redirect' | 'children'>[] } = {}): Promise<Running<T>> {
  const made: { value: T }[] = []
  // The results of `use`, newest last: setup runs again when the page is left and opened again.
  const Page = defineComponent({
    setup() {
      made.push({ value: use() })
      return () => h('div')
    },
  })
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [...routes.map((route) => ({ ...route, component: Page }) as RouteRecordRaw), { path: '/:rest(.*)*', component: Page }],
  })
  await router.push(at)
  const wrapper = mount(RouterView, { global: { plugins: [i18n, router] } })
  const last = made.at(-1)
  if (!last) throw new Error('setup did not run')
  return { value: last.value, router, unmount: () => wrapper.unmount() }
}
