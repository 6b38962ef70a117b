import { flushPromises, mount } from '@vue/test-utils'
import { afterEach, expect, it, vi } from 'vitest'
import * as definitions from '@/api/definitions'
import { i18n } from '@/i18n'
import { mockFunctions } from '@/ui/testing'
import CustomResources from './CustomResources.vue'

const server = mockFunctions(definitions, 'listDefinitions', 'installDefinition')
afterEach(() => vi.resetAllMocks())

const definition = (kind: string, installed: 'absent' | 'configuration' | 'user') => ({
  name: `${kind.toLowerCase()}s.example.com`,
  apiVersion: 'example.com/v1',
  kind,
  plugin: 'Plugin',
  installed,
})

it('says why a definition is installed, and installs one that is not', async () => {
  server.listDefinitions.mockResolvedValue([
    definition('Group', 'absent'),
    definition('Quota', 'configuration'),
    definition('Topology', 'user'),
  ])
  server.installDefinition.mockResolvedValue([definition('Group', 'user')])
  const wrapper = mount(CustomResources, { global: { plugins: [i18n] } })
  await flushPromises()
  const rows = () => wrapper.findAll('li').map((li) => li.text().replace(/\s+/g, ' '))
  expect(rows()).toEqual(['Group PluginInstall', 'Quota Pluginwith the plugin', 'Topology Plugininstalled'])
  await wrapper.get('button').trigger('click')
  await flushPromises()
  expect(server.installDefinition).toHaveBeenCalledWith('groups.example.com')
  expect(rows()).toEqual(['Group Plugininstalled'])
})
