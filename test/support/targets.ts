import type { TestProject } from 'vitest/node';
import { generateKey, hashKey, keyHint } from '../../server/store/keys.ts';
import type { Target } from '../conformance/wire/http-response.ts';
import { startPrism } from '../mock/prism.ts';
import { startMock } from '../mock/server.ts';
import { disableToken } from '../store/ledger.ts';
import { startFaultyGateway } from './faulty-gateway.ts';
import { startTestGateway, type TestGateway } from './gateway.ts';
import { channelTo } from './upstream.ts';
import { assertionSecret } from './user-assertions.ts';

/** Keys with fewer rights than the key of the gateway. */
export interface LimitedKeys {
  /** Was valid before its revocation. */
  revoked: string;
  /** Has access to no model. */
  noModels: string;
  noQuota: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    mock: Target;
    /** Prism alone on the bundle, for stateless JSON responses. */
    prism: Target;
    gateway: Target;
    /** A gateway with injected faults. A POST to `control` sets them. */
    faulty: { target: Target; control: string };
    limitedKeys: LimitedKeys;
    /** Maximum size of a request body in megabytes. */
    bodyLimitMb: number;
    /** Secret that the gateway signs callbacks with. Callbacks to loopback addresses are allowed. */
    callbackSecret: string;
  }
}

/** The channel of the documented requests. It has no groups, so a test can disable it without an effect on others. */
const spare = channelTo('http://127.0.0.1:9', { name: 'native-eu', protocol: 'eta', groups: [] });

const callbackSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/** Starts the targets that all contract tests share. */
export default async function startTargets({ provide }: TestProject): Promise<() => Promise<void>> {
  const [mock, prism, gateway, faulty] = await Promise.all([
    startMock(),
    startPrism(),
    startTestGateway({
      channels: [spare],
      callbacks: { allowPrivate: true, secret: callbackSecret },
      checkResponses: true,
      userAssertionSecret: assertionSecret,
    }),
    startFaultyGateway(),
  ]);
  provide('mock', { url: mock.url, key: 'sk-any' });
  provide('prism', { url: prism.url, key: 'sk-any' });
  provide('gateway', { url: gateway.url, key: gateway.key, isGateway: true });
  provide('faulty', { target: faulty.target, control: faulty.control });
  provide('limitedKeys', await createKeys(gateway));
  provide('callbackSecret', callbackSecret);
  provide('bodyLimitMb', gateway.gateway.settings.limits.bodyMb);
  return async () => {
    await Promise.all([mock.close(), prism.close(), gateway.close(), faulty.close()]);
  };
}

async function createKeys({ gateway: { store, clock } }: TestGateway): Promise<LimitedKeys> {
  const now = clock();
  const { id: userId } = await store.run('createUser', { name: 'limited', group: 'default', now });
  const make = async (name: string, may: { modelLimits?: string[]; unlimitedQuota?: boolean }) => {
    const key = generateKey();
    const token = { userId, name, keyHash: hashKey(key), keyHint: keyHint(key), now, ...may };
    const { id } = await store.run('createToken', token);
    return { key, id };
  };
  const revoked = await make('revoked', { unlimitedQuota: true });
  await disableToken(store, revoked);
  const noModels = await make('no models', { unlimitedQuota: true, modelLimits: [] });
  const noQuota = await make('no quota', {});
  return { revoked: revoked.key, noModels: noModels.key, noQuota: noQuota.key };
}
