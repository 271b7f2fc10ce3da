import { useMemo } from 'preact/hooks';
import type { Budget } from '../../index.ts';
import { DialogForm } from '../calls/dialog-form.tsx';
import { useContract } from '../contract/contract.ts';
import { Form } from '../contract/form.ts';
import { Dialog } from '../parts/dialog.tsx';
import { useClient } from '../session/session.ts';
import { BudgetFields } from './budget-fields.tsx';

interface EditBudgetProps {
  budget: Budget;
  onClose: () => void;
  onSaved: () => void;
}

/** The form that changes a budget. Its spending remains. */
export function EditBudget({ budget, onClose, onSaved }: EditBudgetProps) {
  const client = useClient();
  const contract = useContract();
  const form = useMemo(() => {
    const { amount, hard, thresholds } = budget;
    return new Form(contract, contract.body('updateBudget'), { amount, hard, thresholds });
  }, []);
  const save = async (signal: AbortSignal) => {
    await client.admin.budgets.update(budget.id, form.body.value, { signal });
    onSaved();
  };
  return (
    <Dialog title="Change the budget" onClose={onClose}>
      <DialogForm form={form} label="Save" call={save} onClose={onClose}>
        <BudgetFields form={form} />
      </DialogForm>
    </Dialog>
  );
}
