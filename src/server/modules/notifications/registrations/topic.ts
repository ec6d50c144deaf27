/** What a topic is called; also a JSON Schema pattern. */
export const topicForm = "^[a-z0-9][a-z0-9._-]{0,63}$";

/** The form in words, for whoever sent another. */
export const topicExpects = "1 to 64 of a-z, 0-9, dot, dash and underscore, beginning with a letter or digit";
