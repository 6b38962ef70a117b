import { describe, expect, it } from 'vitest'
import { parsePath, pathsInMessage } from './fieldPaths'

describe('paths', () => {
  it('splits field paths', () => {
    expect(parsePath('spec.containers[0].ports[1].hostPort')).toEqual(['spec', 'containers', 0, 'ports', 1, 'hostPort'])
    expect(parsePath('metadata.labels[a.b/c]')).toEqual(['metadata', 'labels', 'a.b/c'])
  })
  it('finds them in messages', () => {
    expect(
      pathsInMessage(
        'Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.foo", duplicate field "spec.bar"'
      )
    ).toEqual(['spec.foo', 'spec.bar'])
    expect(pathsInMessage('Pod "x" is invalid: spec.containers: Required value')).toEqual(['spec.containers'])
    expect(
      pathsInMessage(
        'Deployment in version "v1" cannot be handled as a Deployment: json: ' +
          'cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32'
      )
    ).toEqual(['spec.replicas'])
    expect(pathsInMessage('pods "x" already exists')).toEqual([])
  })
})
