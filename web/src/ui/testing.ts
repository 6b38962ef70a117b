// Runs a composable in a test as a component's setup would: with messages, a router and lifecycle hooks.

import { mount } from '@vue/test-utils'
import { defineComponent, h } from 'vue'
import { createMemoryHistory, createRouter, RouterView, type Router, type RouteRecordRaw } from 'vue-router'
import { i18n } from '@/i18n'

export interface Running<T> {
  value: T
  router: Router
  /** Runs the hooks that a component runs when it leaves the page. */
  unmount(): void
}

/**
 * Calls use in the setup of an empty page at the address `at`. Every path shows that page
 * unless routes say otherwise.
 */
export async function withSetup<T>(use: () => T, { at = '/', routes = [] }: { at?: string; routes?: readonly Omit<RouteRecordRaw, 'component' | 'redirect' | 'children'>[] } = {}): Promise<Running<T>> {
  const made: { value: T }[] = []
  // Each value that setup returned, the newest last: a page that is left and opened again runs it again.
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
