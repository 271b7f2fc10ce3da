import type { Budget } from '../../index.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { useClient } from '../session/session.ts';

interface DeleteBudgetProps {
  budget: Budget;
  onClose: () => void;
  onDeleted: () => void;
}

/** Asks for a confirmation and deletes a budget. */
export function DeleteBudget({ budget, onClose, onDeleted }: DeleteBudgetProps) {
  const client = useClient();
  const remove = async (signal: AbortSignal) => {
    await client.admin.budgets.delete(budget.id, { signal });
    onDeleted();
  };
  return (
    <ConfirmDialog title="Delete the budget?" label="Delete budget" call={remove} onClose={onClose}>
      {budget.hard
        ? 'It no longer refuses calls. A new budget counts only later calls.'
        : 'It no longer sends events. A new budget counts only later calls.'}
    </ConfirmDialog>
  );
}
