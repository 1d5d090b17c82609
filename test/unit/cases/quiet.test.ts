import { describe, expect, it } from 'vitest'
import { untilQuiet, withPatience } from '../../cases/quiet.ts'

describe('untilQuiet', () => {
  it('needs two quiet turns running', async () => {
    const turns = [['a'], [], ['b'], [], []]
    let asked = 0
    await untilQuiet(() => turns[asked++] ?? ['asked too often'])
    expect(asked).toBe(5)
  })

  it('gives up and names what is still busy', async () => {
    await expect(untilQuiet(() => ['one thing', 'another'], 30)).rejects.toThrow(
      'still busy after 0.03 s: one thing; another',
    )
  })
})

describe('withPatience', () => {
  it('gives what the work gives', async () => {
    await expect(withPatience('it', Promise.resolve(1))).resolves.toBe(1)
    await expect(withPatience('it', Promise.reject(new Error('no')))).rejects.toThrow('no')
  })

  it('gives up and names what is still busy', async () => {
    const never = new Promise(() => {})
    await expect(withPatience('the answer', never, () => ['a task'], 30)).rejects.toThrow(
      'the answer has not ended after 0.03 s: a task',
    )
  })
})
