import { flushPromises, mount } from '@vue/test-utils'
import { afterEach, expect, it, vi } from 'vitest'
import { installDefinition, listDefinitions } from '@/api/definitions'
import { i18n } from '@/i18n'
import CustomResources from './CustomResources.vue'

vi.mock('@/api/definitions', () => ({ listDefinitions: vi.fn(), installDefinition: vi.fn() }))
afterEach(() => vi.resetAllMocks())

const definition = (kind: string, installed: 'absent' | 'configuration' | 'user') => ({ name: `${kind.toLowerCase()}s.example.com`, apiVersion: 'example.com/v1', kind, plugin: 'Plugin', installed })

it('says why a definition is installed, and installs one that is not', async () => {
  vi.mocked(listDefinitions).mockResolvedValue([definition('Group', 'absent'), definition('Quota', 'configuration'), definition('Topology', 'user')])
  vi.mocked(installDefinition).mockResolvedValue([definition('Group', 'user')])
  const wrapper = mount(CustomResources, { global: { plugins: [i18n] } })
  await flushPromises()
  const rows = () => wrapper.findAll('li').map((li) => li.text().replace(/\s+/g, ' '))
  expect(rows()).toEqual(['Group PluginInstall', 'Quota Pluginwith the plugin', 'Topology Plugininstalled'])
  await wrapper.get('button').trigger('click')
  await flushPromises()
  expect(installDefinition).toHaveBeenCalledWith('groups.example.com')
  expect(rows()).toEqual(['Group Plugininstalled'])
})
