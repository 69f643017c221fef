import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/** What the tests ask of a client library. Each method returns what Jackson can write. */
interface Library {
  /** The tool that every client offers, in the words of `libraries/library.ts`. */
  String TOOL_NAME = "get_weather";

  String TOOL_DESCRIPTION = "The weather in a city";
  String TOOL_RESULT = "Sunny";

  /** More rounds than any test needs: a loop that does not end is a bug. */
  int MAX_ROUNDS = 4;

  /** Where the gateway is, and who asks. */
  record Access(String baseUrl, String key) {}

  record Call(String name, Object arguments) {}

  record Talked(String text, List<Call> calls) {}

  record Thrown(boolean isOwnClass, Integer status, String className, String message) {}

  /** A conversation to its end; the calls are answered with {@link #TOOL_RESULT}. */
  Talked talk(Access access, String model, String prompt, boolean isStream, boolean withTools);

  /** What is made of one answer to a question that may be answered at length. */
  Talked ask(Access access, String model, String prompt);

  /** Asks what must fail. */
  Thrown fail(Access access, String model, boolean isStream);

  List<String> listModels(Access access);

  String getModel(Access access, String model);

  /** Only of libraries that can count. */
  default long countTokens(Access access, String model) {
    throw new UnsupportedOperationException("this library counts no tokens");
  }

  /** Calls the method of this name with its parameters as the tests wrote them. */
  default Object call(String name, JsonNode given) {
    Access access = new Access(given.at("/access/baseUrl").asText(), given.at("/access/key").asText());
    String model = given.path("model").asText();
    String prompt = given.path("prompt").asText();
    boolean isStream = given.path("isStream").asBoolean();
    return switch (name) {
      case "talk" -> talk(access, model, prompt, isStream, given.path("withTools").asBoolean());
      case "ask" -> ask(access, model, prompt);
      case "fail" -> fail(access, model, isStream);
      case "listModels" -> listModels(access);
      case "getModel" -> getModel(access, model);
      case "countTokens" -> countTokens(access, model);
      default -> throw new IllegalArgumentException("no method " + name);
    };
  }
}
