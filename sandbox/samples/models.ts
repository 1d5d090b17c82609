/**
 * Models of the public catalog (https://modelsphere.github.io/model-catalog/): one variant each, with its values
 * cut to what is worth seeing in a sample. Container images are public ones; nothing pulls them here.
 */
export interface Model {
  name: string
  version: string
  variant: string
  hf: string
  /** Digest of the catalog entry. */
  digest: string
  engine: 'sglang' | 'vllm'
  /** Version of the chart named like the engine. */
  chartVersion: string
  gpus: number
  gpuProduct: string
  image: { repository: string; tag: string }
  /** The catalog layer of a plan. */
  values: Record<string, unknown>
}

const H100 = 'NVIDIA-H100-80GB-HBM3'
const B300 = 'NVIDIA-B300-SXM6-AC'
const sglang = { repository: 'lmsysorg/sglang', tag: 'v0.5.19' }

const sglangValues = (contextLength: string, extraArgs: string[]) => ({
  model: { hostPathType: 'Directory', contextLength },
  modelCheck: { enabled: true, requiredGlobs: ['config.json', '*.safetensors'] },
  extraArgs: ['--enable-cache-report', '--stream-response-default-include-usage', ...extraArgs],
  env: [
    { name: 'NVIDIA_DISABLE_REQUIRE', value: '1' },
    { name: 'PYTORCH_ALLOC_CONF', value: 'expandable_segments:True' },
  ],
  volumes: [
    { name: 'dot-cache', emptyDir: { sizeLimit: '10Gi' } },
    { name: 'dshm', emptyDir: { medium: 'Memory', sizeLimit: '16Gi' } },
  ],
  resources: { requests: { 'ephemeral-storage': '16Gi' }, limits: { 'ephemeral-storage': '16Gi' } },
  progressDeadlineSeconds: 7200,
  terminationGracePeriodSeconds: 3600,
  lifecycle: {
    preStop: { drainSeconds: 600, pollIntervalSeconds: 5 },
    forceShutdown: true,
    preStopKill: true,
  },
  hangWatcher: { enabled: true },
})

const gptOssDigest = 'sha256:a351a2688dd715953047982f9ac51728a927b6bef52f19c02a1cd9255199c0c0'

export const gptOss: Model = {
  name: 'gpt-oss-20b',
  version: '1.0.0',
  variant: 'sglang-tp1-h100-optimized',
  hf: 'openai-mirror/gpt-oss-20b',
  digest: gptOssDigest,
  engine: 'sglang',
  chartVersion: '0.7.1',
  gpus: 1,
  gpuProduct: H100,
  image: sglang,
  values: sglangValues('', [
    '--kv-cache-dtype=fp8_e4m3',
    '--reasoning-parser=gpt-oss',
    '--tool-call-parser=gpt-oss',
    '--tp-size=1',
  ]),
}

export const gptOssBaseline: Model = {
  ...gptOss,
  variant: 'sglang-tp1-h100-baseline',
  values: sglangValues('', ['--reasoning-parser=gpt-oss', '--tool-call-parser=gpt-oss', '--tp-size=1']),
}

export const kimi: Model = {
  name: 'kimi-k3',
  version: '1.0.5',
  variant: 'vllm-tp8-b300',
  hf: 'moonshotai/Kimi-K3',
  digest: 'sha256:6cedcfae5e250225e2758454d0fbf2aa3f891773fe196525fe7bf2d7113689fa',
  engine: 'vllm',
  chartVersion: '0.4.6',
  gpus: 8,
  gpuProduct: B300,
  image: { repository: 'vllm/vllm-openai', tag: 'v0.30.1' },
  values: {
    model: { maxLen: '1048576', mountPath: '/model' },
    extraArgs: [
      '--trust-remote-code',
      '--gpu-memory-utilization=0.9',
      '--tensor-parallel-size=8',
      '--kv-cache-dtype=fp8',
      '--enable-prefix-caching',
      '--max-num-seqs=48',
      '--reasoning-parser=kimi_k3',
      '--tool-call-parser=kimi_k3',
    ],
    env: [
      { name: 'PYTHONHASHSEED', value: '0' },
      { name: 'VLLM_ENGINE_READY_TIMEOUT_S', value: '3600' },
    ],
    lifecycle: { preStop: { drainSeconds: 900, enabled: true }, shutdownTimeout: 120 },
    progressDeadlineSeconds: 5400,
    terminationGracePeriodSeconds: 1200,
  },
}

export const glm: Model = {
  name: 'glm5.3',
  version: '1.0.1',
  variant: 'sglang-tp4-b300',
  hf: 'zai-org/GLM-5.3-NVFP4',
  digest: 'sha256:eea710a678b3bf346f5d5d05988b8e9ca9ad6e9d590d5e524314dd07ea73cb1e',
  engine: 'sglang',
  chartVersion: '0.7.8',
  gpus: 4,
  gpuProduct: B300,
  image: sglang,
  values: sglangValues('', ['--tp-size=4']),
}

export const qwen: Model = {
  name: 'qwen3.6-35b-a3b',
  version: '1.0.1',
  variant: 'sglang-tp2-h100',
  hf: 'Qwen/Qwen3.6-35B-A3B',
  digest: 'sha256:4a0104cccc90174f650ad5c7c487fd28113b81026706e14f2bb7d6b941b0d69c',
  engine: 'sglang',
  chartVersion: '0.7.1',
  gpus: 2,
  gpuProduct: H100,
  image: sglang,
  values: sglangValues('', ['--tp-size=2']),
}
