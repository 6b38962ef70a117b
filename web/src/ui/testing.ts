// Runs a composable in a test as a component's setup would: with messages, a router and lifecycle
// hooks. Mocks functions of
// modules for the tests of a file.

import { mount } from '@vue/test-utils'
import { afterAll, vi } from 'vitest'
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
export async function withSetup<T>(
  use: () => T,
  {
    at = '/',
    routes = [],
  }: { at?: string; routes?: readonly Omit<RouteRecordRaw, 'component' | 'redirect' | 'children'>[] } = {}
): Promise<Running<T>> {
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
    routes: [
      ...routes.map((route) => ({ ...route, component: Page }) as RouteRecordRaw),
      { path: '/:rest(.*)*', component: Page },
    ],
  })
  await router.push(at)
  const wrapper = mount(RouterView, { global: { plugins: [i18n, router] } })
  const last = made.at(-1)
  if (!last) throw new Error('setup did not run')
  return { value: last.value, router, unmount: () => wrapper.unmount() }
}

/**
 * Replaces functions that a module exports by mocks that return undefined, until the tests of the
 * calling file end: those of the
 * given names, or all. vite.config.ts says what vi.mock costs.
 */
export function mockFunctions<T extends object>(
  module: T,
  ...names: (keyof T & string)[]
): ReturnType<typeof vi.mocked<T>> {
  const mocked = names.length
    ? names
    : Object.keys(module).filter((name) => typeof module[name as keyof T] === 'function')
  for (const name of mocked) {
    const real = Object.getOwnPropertyDescriptor(module, name) as PropertyDescriptor
    Object.defineProperty(module, name, { configurable: true, enumerable: true, value: vi.fn() })
    afterAll(() => void Object.defineProperty(module, name, real))
  }
  return vi.mocked(module)
}
