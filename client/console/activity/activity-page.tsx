import { useEffect } from 'preact/hooks';
import { PageHead } from '../shell/page-head.tsx';
import './activity.css';
import { ActivityList } from './activity-list.tsx';
import { FilterBar } from './filter-bar.tsx';
import { setFilters, useFilters } from './filters.ts';
import { Panel } from './panel.tsx';

/** Calls and tasks in one live table. A row opens to a panel, whose address can be shared. */
export default function ActivityPage() {
  const filters = useFilters();
  const isOpen = filters.task !== '' || filters.request !== '';
  useEffect(() => {
    const close = (event: KeyboardEvent) => {
      // A dialog or a field has its own use for the key.
      if (event.key === 'Escape' && !(event.target as Element).closest('dialog, input'))
        setFilters({ task: '', request: '' });
    };
    addEventListener('keydown', close);
    return () => removeEventListener('keydown', close);
  }, []);
  return (
    <>
      <PageHead title="Activity">Calls and tasks of your key, as they happen.</PageHead>
      <FilterBar filters={filters} />
      <div class="activity" data-open={isOpen}>
        <ActivityList filters={filters} />
        {isOpen && (
          <Panel key={filters.task + filters.request} task={filters.task} request={filters.request} />
        )}
      </div>
    </>
  );
}
