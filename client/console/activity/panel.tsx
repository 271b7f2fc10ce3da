import { X } from 'lucide';
import { IconButton } from '../parts/button.tsx';
import { CallDetails } from './call-details.tsx';
import { setFilters } from './filters.ts';
import { TaskDetails } from './task-details.tsx';

/** The details of one call or task beside the table. */
export function Panel({ task, request }: { task: string; request: string }) {
  return (
    <aside class="panel" aria-label={task ? 'Task' : 'Call'}>
      <div class="panel-close">
        <IconButton icon={X} label="Close (Escape)" onClick={() => setFilters({ task: '', request: '' })} />
      </div>
      {task ? <TaskDetails id={task} /> : <CallDetails requestId={request} />}
    </aside>
  );
}
