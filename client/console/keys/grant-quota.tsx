import { useMemo } from 'preact/hooks';
import type { Token } from '../../index.ts';
import { useRun } from '../calls/run.ts';
import { contract } from '../contract/contract.ts';
import { Field } from '../contract/field.tsx';
import { Form } from '../contract/form.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorNotice } from '../parts/notices.tsx';
import { formatCount } from '../parts/numbers.tsx';
import { useClient } from '../session/session.ts';

interface GrantQuotaProps {
  token: Token;
  onClose: () => void;
  onGranted: () => void;
}

/** The form that grants quota to a key, or withdraws it. */
export function GrantQuota({ token, onClose, onGranted }: GrantQuotaProps) {
  const client = useClient();
  const run = useRun<void>();
  const form = useMemo(() => {
    if (contract.value === undefined) throw new Error('The contract is not loaded.');
    return new Form(contract.value, contract.value.body('grantQuota'), { amount: 100_000 });
  }, []);
  // A second click on the button repeats this grant, and never adds a second one.
  const idempotencyKey = useMemo(() => crypto.randomUUID(), []);
  const state = run.state.value;
  const amount = form.get('amount');
  const submit = async () => {
    if (!form.checkAll()) return;
    const reason = form.get('reason');
    if (typeof amount !== 'number' || typeof reason !== 'string') return;
    await run.start(async (signal) => {
      try {
        await client.admin.tokens.grant(token.id, { amount, reason }, { idempotencyKey, signal });
        onGranted();
      } catch (error) {
        if (!form.reject(error)) throw error;
      }
    });
  };
  return (
    <Dialog title={`Grant quota to ${token.name}`} onClose={onClose}>
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <Field
          form={form}
          path="amount"
          label="Amount"
          hint="In quota units. A negative amount withdraws quota."
        />
        <Field form={form} path="reason" label="Reason" hint="Recorded in the ledger." rows={1} />
        <p class="secondary numeric">
          {formatCount(token.remain_quota)} left
          {typeof amount === 'number' &&
            !Number.isNaN(amount) &&
            (token.debt ?? 0) === 0 &&
            ` ${amount < 0 ? '−' : '+'} ${formatCount(Math.abs(amount))} = ${formatCount(token.remain_quota + amount)}`}
        </p>
        {state.status === 'failed' && <ErrorNotice error={state.error} />}
        <div class="row">
          <Button submit variant="primary" busy={state.status === 'running'}>
            Grant
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}
