import { generateKey, hashKey, keyHint } from '../../server/store/keys.ts';
import type { Store } from '../../server/store/store.ts';

/** Nothing is due before it. */
const never = Number.MAX_SAFE_INTEGER;

/** Makes the image jobs that the documented requests name: a finished one with its buttons, and two that wait. */
export async function furnishImageJobs(store: Store, userId: number): Promise<void> {
  const now = Date.now();
  const key = generateKey();
  const { id: tokenId } = await store.run('createToken', {
    userId,
    name: 'painter',
    keyHash: hashKey(key),
    keyHint: keyHint(key),
    unlimitedQuota: true,
    now,
  });
  const accept = async (id: string, upstreamId: string, result: object) => {
    await store.run('createTask', {
      id,
      requestId: `request-of-${id}`,
      userId,
      tokenId,
      operation: 'submitImagine',
      format: 'image',
      driver: 'imgjob',
      model: 'imgjob_image',
      unit: 'actions',
      channel: 'imgjob',
      facts: '{"action":"IMAGINE","prompt":"a harbour"}',
      serviceTier: null,
      expectedUnits: 1,
      rate: 0,
      amount: 0,
      callbackUrl: null,
      idempotencyKey: null,
      fingerprint: null,
      askedAt: now,
      deadlineAt: never,
      pollInterval: 1_000,
      leaseOwner: 'a test',
      leaseUntil: now,
      now,
    });
    const accepted = { upstreamId, state: 'queued' as const, progress: 0, nextPollAt: never };
    await store.run('acceptTask', {
      id,
      attempt: 1,
      ...accepted,
      result: JSON.stringify(result),
      now,
      dueNow: now,
    });
  };
  const button = (customId: string) => ({ customId, emoji: '', label: 'Button', type: 2 });
  const finished = {
    image_url: 'https://files.example/harbour.png',
    buttons: [button('IJ::JOB::upsample::1::9f2c'), button('IJ::Inpaint::1::9f2c::SOLO')],
  };
  const done = 'task_0a1b2c3d4e5f60718293a4b5c6d7e8f9';
  await accept(done, 'done', {});
  await store.run('finishTask', {
    id: done,
    attempt: null,
    result: JSON.stringify(finished),
    error: null,
    charge: { quota: 0, units: 1, inputTokens: 0, outputTokens: 0 },
    expiresAt: now + 86_400_000,
    now,
    dueNow: now,
  });
  await accept('task_1b2c3d4e5f60718293a4b5c6d7e8f90a', 'waiting', { waiting: true });
  await accept('task_2c3d4e5f60718293a4b5c6d7e8f90a1b', 'waiting', { waiting: true });
}
