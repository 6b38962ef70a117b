import { expect, it } from 'vitest'
import { parseError } from './http'

it('parses our errors', () => {
  expect(
    parseError(400, '{"message":"bad value","details":[{"field":"limit","message":"not a number"}]}')
  ).toMatchObject({ message: 'bad value', code: 400, details: ['limit: not a number'] })
})
it('parses a Kubernetes Status with its causes', () => {
  const body = {
    kind: 'Status',
    message: 'Pod "x" is invalid',
    reason: 'Invalid',
    code: 422,
    details: { causes: [{ reason: 'FieldValueRequired', message: 'Required value', field: 'spec.containers' }] },
  }
  expect(parseError(422, JSON.stringify(body))).toMatchObject({
    message: 'Pod "x" is invalid',
    reason: 'Invalid',
    causes: [{ field: 'spec.containers', message: 'Required value' }],
  })
})
it('handles any other body', () => {
  expect(parseError(502, '<html>').message).toBe('<html>')
  expect(parseError(500, '').message).toBe('HTTP 500')
  expect(parseError(500, '[]').message).toBe('HTTP 500')
  expect(parseError(503, '{"message":"starting"}').unavailable).toBe(true)
})
