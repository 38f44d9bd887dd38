import { errorFields, type Logger } from '../../observability/logger.ts';
import type { NewAuditLine, OperatorStore } from '../../spool/operator-store.ts';

export type AuditEntry = Omit<NewAuditLine, 'outcome'> & { readonly outcome?: string };

/** Who acts, as the audit log names them. */
export type Actor = Pick<NewAuditLine, 'who' | 'address'>;

/** The audit log of operators' actions. */
export interface Audit {
  /**
   * Resolves when the line is stored. A failure is only logged, since the action has already
   * happened.
   */
  write(line: AuditEntry): Promise<void>;
}

export function createAudit(store: Pick<OperatorStore, 'audit'>, logger: Logger): Audit {
  return {
    async write({ outcome = 'ok', ...line }) {
      try {
        await store.audit({ ...line, outcome });
      } catch (error) {
        logger.error('console.audit_failed', { action: line.action, ...errorFields(error) });
      }
    },
  };
}
