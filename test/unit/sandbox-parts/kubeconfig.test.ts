import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readBlockYaml } from '../../../sandbox/blockYaml.ts'
import { kubeconfigPaths, readKubeconfig } from '../../../sandbox/kubeconfig.ts'
import { testFolder } from './support.ts'

// As kubectl config writes it.
const written = `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: Q0E=
    server: https://10.0.0.1:6443/
    tls-server-name: api.example
  name: far
- cluster:
    insecure-skip-tls-verify: true
    server: http://127.0.0.1:8001
  name: near
contexts:
- context:
    cluster: far
    namespace: team-a
    user: admin
  name: far-admin
- context:
    cluster: near
    user: "plugin"
  name: near
current-context: far-admin
kind: Config
preferences: {}
users:
- name: admin
  user:
    client-certificate: admin.crt
    client-key-data: S0VZ
- name: plugin
  user:
    exec:
      command: login
      args:
      - --now
      - 'it''s'
      script: |
        # not a comment

        two lines
      last: true
`

describe('block YAML', () => {
  test('reads what kubectl writes as the YAML library does', () => {
    expect(readBlockYaml(written)).toEqual(parse(written))
  })

  test.each([
    ['nested lists', 'a:\n  - - 1\n    - 2\n  - b: 1\n    c:\n    - x\n'],
    [
      'quotes, comments and plain text',
      `# head\na: "x: #y" # c\n'b c': 'it''s'\nd: x#y z\ne:\nf: -1.5\ng: null\n`,
    ],
    ['folded text and text at the end', 'a: >-\n  one\n  two\nb: |\n  three\n   four\n'],
    ['a literal in a list', '- key: |\n    x\n  other: y\n- z\n'],
    ['JSON', '{"a": [1, {"b": null}]}'],
    ['flow style', `a: {b: c, "d": [1, -2, 'x, y', {}], e: http://h:1/p, f: }\n`],
    ['a list of flow maps', "- {a: b, c: 'it''s'}\n- [x y, true, null]\n"],
    ['nothing', '# empty\n'],
  ])('%s', (_what, text) => {
    expect(readBlockYaml(text)).toEqual(parse(text))
  })

  test.each(['a: &x 1\n', 'a: !!str 1\n', 'a: {b: c\n', 'a: [b}\n', 'a: 1\n  b: 2\n', 'just text\n'])(
    'refuses what lies outside: %j',
    (text) => {
      expect(() => readBlockYaml(text)).toThrow(/line \d+ is not YAML in block style/)
    },
  )
})

describe('kubeconfig', () => {
  const folder = () => {
    const dir = testFolder()
    writeFileSync(join(dir, 'config'), written)
    writeFileSync(join(dir, 'admin.crt'), 'CERT')
    return dir
  }

  test('gives the server, the credentials and the namespace of the current context', () => {
    expect(readKubeconfig([join(folder(), 'config')])).toEqual({
      server: 'https://10.0.0.1:6443',
      certificate: 'CERT',
      key: 'KEY',
      certificateAuthority: 'CA',
      serverName: 'api.example',
      namespace: 'team-a',
    })
  })

  test('says in one sentence what it cannot do', () => {
    const config = join(folder(), 'config')
    expect(() => readKubeconfig([config], 'near')).toThrow('needs a credential plug-in')
    expect(() => readKubeconfig([config], 'nowhere')).toThrow('context "nowhere" does not exist')
    expect(() => readKubeconfig(['/nowhere/config'])).toThrow('ENOENT')
  })

  test('merges several files, the first one wins', () => {
    const dir = folder()
    writeFileSync(
      join(dir, 'first'),
      'current-context: mine\ncontexts:\n- name: mine\n  context: {"cluster": "far", "user": "me"}\nusers:\n- name: me\n  user:\n    token: t\n',
    )
    const paths = kubeconfigPaths(undefined, { KUBECONFIG: `${join(dir, 'first')}:${join(dir, 'config')}` })
    expect(readKubeconfig(paths)).toMatchObject({
      server: 'https://10.0.0.1:6443',
      token: 't',
      namespace: 'default',
    })
    expect(kubeconfigPaths('/x', { KUBECONFIG: '/y' })).toEqual(['/x'])
  })
})
