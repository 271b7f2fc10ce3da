import type { TestStore } from './engines.ts';
import { runStatement } from './raw-rows.ts';

/**
 * Closes a reservation as gateways of the version before do: its row stays, and has a log entry beside it. `charged` null: it is given
 * back. `at` is in epoch milliseconds.
 */
export async function closeAsBefore(
  testStore: TestStore,
  { requestId, charged, at }: { requestId: string; charged: number | null; at: number },
): Promise<void> {
  const its = `from ledger where request_id = '${requestId}'`;
  const seconds = Math.floor(at / 1000);
  const [day, ofEntry] =
    testStore.engine === 'postgres' ? [', day', `, ${Math.floor(seconds / 86_400)}`] : ['', ''];
  await runStatement(
    testStore,
    `update ledger set state = '${charged === null ? 'refunded' : 'settled'}', charged = ${charged}, closed_at = ${at},
      gateway = null where request_id = '${requestId}' and state = 'open'`,
  );
  await runStatement(
    testStore,
    `insert into request_log (request_id, user_id, token_id, token_name, model_name, operation, channel, status, unit, units,
      prompt_tokens, completion_tokens, quota, duration_ms, created_at${day})
    select request_id, user_id, token_id, '', model, 'createSpeech', 'sandbox', 200, unit, 9, 0, 0, ${charged ?? 0}, 120,
      ${seconds}${ofEntry} ${its}`,
  );
  await runStatement(
    testStore,
    `update tokens set used_quota = used_quota + ${charged ?? 0},
      remain_quota = remain_quota + (select case when unlimited = 1 then 0 else reserved - ${charged ?? 0} end ${its})
    where id = (select token_id ${its})`,
  );
}
