import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StoreUnavailable } from '../../server/store/availability.ts';
import { generateKey, hashKey, keyHint } from '../../server/store/keys.ts';
import type { Store } from '../../server/store/store.ts';
import type { Target } from '../conformance/wire/http-response.ts';
import { startTestGateway } from './gateway.ts';
import { type ScriptedProvider, startScriptedProvider } from './scripted-provider.ts';
import { seedImageJobs } from './seed-image-jobs.ts';
import { seedMusic } from './seed-music.ts';
import { channelTo } from './upstream.ts';
import { assertionSecret } from './user-assertions.ts';

/** Active faults. */
export interface Faults {
  /** Status of every provider response. */
  provider?: number;
  /** `broken`: an unexpected error. `unavailable`: the database does not respond. */
  store?: 'broken' | 'unavailable';
}

export interface FaultyGateway {
  target: Target;
  /** A POST of `Faults` to this address sets them and returns a new key with a limit of one request per minute. */
  control: string;
  close(): Promise<void>;
}

const names = [
  'native',
  'official',
  'eta',
  'sigma',
  'imgjob',
  'embeddings',
  'messages',
  'verification',
] as const;

/** Starts a gateway with a scripted provider. Other processes set its faults through `control`. */
export async function startFaultyGateway(): Promise<FaultyGateway> {
  const provider = await startScriptedProvider();
  const channels = names.map((protocol) =>
    channelTo(provider.url, { name: protocol, protocol, relayMedia: true }),
  );
  const running = await startTestGateway({
    sandbox: false,
    channels,
    userAssertionSecret: assertionSecret,
    limits: { bodyMb: 64, requestsPerMinute: 1, socketsPerKey: 0 },
  });
  const { gateway } = running;
  let store: Faults['store'];
  const { id: userId } = await gateway.store.run('createUser', {
    name: 'limited',
    group: 'default',
    role: 'admin',
    now: Date.now(),
  });
  await seedResources(gateway.store, userId);
  await seedImageJobs(gateway.store, userId);
  await seedMusic(gateway.store, userId);
  failWhile(gateway.store, () => store);
  const control = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const faults = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Faults;
      store = undefined;
      setProvider(provider, faults);
      // A fault must not affect the next test.
      for (const name of names) gateway.channels.named(name)?.health.reset();
      void newKey(gateway.store, userId).then((key) => {
        store = faults.store;
        response.end(key);
      });
    });
  });
  await new Promise<void>((resolve) => control.listen(0, '127.0.0.1', resolve));
  return {
    target: { url: running.url, key: running.key, isGateway: true },
    control: `http://127.0.0.1:${(control.address() as AddressInfo).port}`,
    async close() {
      store = undefined;
      control.close();
      control.closeAllConnections();
      await running.close();
      await provider.close();
    },
  };
}

function setProvider(provider: ScriptedProvider, { provider: status }: Faults): void {
  provider.failing = status;
}

async function newKey(store: Store, userId: number): Promise<string> {
  const key = generateKey();
  const hashed = { keyHash: hashKey(key), keyHint: keyHint(key) };
  await store.run('createToken', {
    userId,
    name: 'limited',
    ...hashed,
    unlimitedQuota: true,
    adminScope: true,
    now: Date.now(),
  });
  return key;
}

/** Inserts the assets, sessions and voices that the documented requests name. */
async function seedResources(store: Store, userId: number): Promise<void> {
  const now = Date.now();
  const id = 'asset-20260301120000-k3v9q';
  const asset = {
    id,
    userId,
    tokenId: 1,
    channel: 'official',
    upstreamId: id,
    model: null,
    assetType: 'Image' as const,
  };
  await store.run('saveAsset', { ...asset, name: 'cat', groupId: 'group-20260301120000-p7w2x', now });
  const end = {
    status: 'Active' as const,
    url: 'https://files.example/cat.png',
    urlExpires: now + 43_200_000,
  };
  await store.run('finishAsset', { id, end, now });
  await store.run('saveVerificationSession', {
    session_id: 'vs_5c6d7e8f9a0b',
    user_id: userId,
    token_id: 1,
    channel: 'verification',
    h5_link: 'https://verify.example/h5?token=vs_5c6d7e8f9a0b',
    callback_url: 'https://app.example/verified',
    status: 'pending',
    group_id: null,
    upstream_group_id: null,
    result_code: null,
    created_at: now,
    updated_at: now,
    expires_at: now + 86_400_000,
  });
  const voices = [
    ['voxa-v3.5-flash-narrator-8f3a1c', 'voice-enrollment', 'voxa-v3.5-flash'],
    ['alpha-tts-vd-guide-voice-20260201-a1b2', 'alpha-voice-design', 'alpha3-tts-vd-2026-01-26'],
    ['alpha-tts-vc-narrator_1-voice-20260201-c3d4', 'alpha-voice-enrollment', 'alpha3-tts-vc-2026-01-22'],
  ] as const;
  for (const [voice_id, service, target_model] of voices) {
    await store.run('saveVoice', {
      voice_id,
      user_id: userId,
      token_id: 1,
      service,
      target_model,
      channel: 'native',
      status: 'OK',
      name: 'narrator',
      facts: '{}',
      created_at: now,
      updated_at: now,
    });
  }
}

/** Makes every store call fail while a fault is set. */
function failWhile(store: Store, fault: () => Faults['store']): void {
  const fail = () => {
    const active = fault();
    if (active === 'broken') throw new Error('the store is broken');
    if (active === 'unavailable') throw new StoreUnavailable('the store is unavailable');
  };
  const { read, run, check } = store;
  Object.defineProperties(store, {
    read: {
      get() {
        fail();
        return read;
      },
    },
    run: {
      value: async (...args: Parameters<Store['run']>) => {
        fail();
        return run(...args);
      },
    },
    check: {
      value: async () => {
        fail();
        await check();
      },
    },
  });
}
