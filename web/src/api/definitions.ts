// The custom resource definitions that the simulator has for its own plugins.

import { bodyOf, client } from './client'
import type { Definition } from './types'

export async function listDefinitions(signal?: AbortSignal): Promise<readonly Definition[]> {
  return (await bodyOf(client.GET('/api/v1/definitions', { signal }))).items
}

/** Installs one, so that it stays until the user deletes it. Returns all of them. */
export async function installDefinition(name: string): Promise<readonly Definition[]> {
  return (await bodyOf(client.PUT('/api/v1/definitions/{name}', { params: { path: { name } } }))).items
}
