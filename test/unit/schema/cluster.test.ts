import { expect, test } from 'vitest'
import { ask } from './ask.ts'
import { fakeContext } from './fakes.ts'

test('the cluster is shown as the gateway knows it', async () => {
  const context = fakeContext()
  const answer = await ask(
    '{ cluster { name kubernetesVersion gatewayVersion helmVersion readOnly llmServicesServed warnings leader } }',
    context,
  )
  expect(answer).toEqual({ data: { cluster: context.cluster() } })
})

test('the viewer is the actor of the request, and may do what the gateway says', async () => {
  const asked: string[] = []
  const answer = await ask(
    '{ viewer { name groups authDisabled can(namespace: "team-b") } }',
    fakeContext({
      authDisabled: false,
      can: (namespace) => {
        asked.push(namespace)
        return ['VIEW']
      },
    }),
  )
  expect(answer).toEqual({
    data: { viewer: { name: 'user-a', groups: ['operators'], authDisabled: false, can: ['VIEW'] } },
  })
  expect(asked).toEqual(['team-b'])
})
