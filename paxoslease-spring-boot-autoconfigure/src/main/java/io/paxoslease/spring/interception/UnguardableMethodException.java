package io.paxoslease.spring.interception;

/** Stops the start of an application that asks for {@code @LeaderOnly} where it could not be kept. */
final class UnguardableMethodException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    private final String remedy;

    /**
     * Creates the exception.
     *
     * @param where the method or class
     * @param bean the name of the bean
     * @param reason why it cannot be guarded, without full stop
     * @param remedy what to do, a sentence
     */
    UnguardableMethodException(String where, String bean, String reason, String remedy) {
        super("@LeaderOnly cannot guard " + where + " of bean '" + bean + "': " + reason + ". " + remedy);
        this.remedy = remedy;
    }

    String remedy() {
        return remedy;
    }

    String description() {
        String message = String.valueOf(getMessage());
        return message.substring(0, message.length() - remedy.length()).trim();
    }
}
