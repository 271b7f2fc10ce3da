import { useMemo } from 'preact/hooks';
import type { BudgetRequest } from '../../index.ts';
import { DialogForm } from '../calls/dialog-form.tsx';
import { useContract } from '../contract/contract.ts';
import { Field } from '../contract/field.tsx';
import { Form } from '../contract/form.ts';
import { Dialog } from '../parts/dialog.tsx';
import { session, useClient } from '../session/session.ts';
import { BudgetFields } from './budget-fields.tsx';
import { UserField } from './user-field.tsx';

interface CreateBudgetProps {
  /** The user of the budget. Undefined: the form asks for it. */
  userId?: number | undefined;
  onClose: () => void;
  onSaved: () => void;
}

/** The form that creates a budget of a user or a key, by default of the user of the signed-in key. */
export function CreateBudget({ userId, onClose, onSaved }: CreateBudgetProps) {
  const client = useClient();
  const contract = useContract();
  const form = useMemo(() => {
    const initial = {
      user_id: userId ?? session.peek()?.me.user.id,
      amount: 100_000,
      period: 'monthly',
      time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      thresholds: [50, 80, 100],
    };
    return new Form(contract, contract.body('createBudget'), initial);
  }, []);
  const save = async (signal: AbortSignal) => {
    // The form has the schema of this body.
    await client.admin.budgets.create(form.body.value as BudgetRequest, { signal });
    onSaved();
  };
  return (
    <Dialog title="Create a budget" onClose={onClose}>
      <DialogForm form={form} label="Create budget" call={save} onClose={onClose}>
        {userId === undefined && <UserField form={form} />}
        <Field form={form} path="token_id" label="Key id" hint="Empty for all keys of the user." />
        <Field form={form} path="period" label="Period" />
        <Field form={form} path="time_zone" label="Time zone" />
        <BudgetFields form={form} />
      </DialogForm>
    </Dialog>
  );
}
